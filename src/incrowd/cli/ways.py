"""Options for where and onto what a release is made: Spark, or an earlier release."""

import click

from incrowd.cli.options import together

way_options = together(
    click.option(
        "--existing",
        metavar="RELEASE",
        help="Add IN's rows to an earlier release, whose rows stay as they are; OUT has both.",
    ),
    click.option(
        "--existing-original",
        metavar="FILE",
        help="With --existing and a proof or reports: what the earlier release was made from.",
    ),
    click.option(
        "--existing-proof",
        metavar="FILE",
        help="With --existing-original: the proof of the earlier release.",
    ),
    click.option(
        "--joined",
        metavar="FILE",
        help="With --existing and --proof: also write that original with IN below it (private): "
        "what the proof is of.",
    ),
    click.option(
        "--held-back",
        metavar="FILE",
        help="With --hold-back: write the rows left out, as they were (private), to deliver later.",
    ),
    click.option(
        "--engine",
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="Where: on this machine, or on Spark (SPARK_REMOTE names a server).",
    ),
    click.option(
        "--block-rows",
        type=int,
        metavar="N",
        help="With --engine spark: distinct rows that one task solves (default 1,000,000).",
    ),
    click.option(
        "--scratch",
        metavar="FOLDER",
        help="With --engine spark: keep what tasks find there instead of in Spark's cache.",
    ),
)
