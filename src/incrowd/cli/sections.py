"""The help of commands that have many options: what is needed first, then the others by topic."""

import click

FIRST = "What is needed first"
SECTIONS = {
    FIRST: "--output --original --history -m -k --qi --sensitive --id --keep --hierarchy --policy "
    "--proof --report --time-limit --attack --require",
    "People who have several rows": "--person --missing-person --constant-alike --linked-rows "
    "--pseudonym --pseudonym-table --strict --group",
    "Privacy models": "--l --l-kind --c --t --distance --model --protect",
    "What changes cost, and how cells are written": "--weight --cost --star --counterfeit-weight",
    "Limits on what changes, and rows left out": "--fixed --linked --cap --veil --suppress-rows "
    "--delete-rows",
    "The search": "--method --reductions --gap --spend --seed --threads --engine --block-rows "
    "--scratch",
    "Adding rows to an earlier release": "--existing --existing-original --existing-proof --joined "
    "--hold-back --held-back",
    "How tables are read": "--na --decimal --derive --delimiter --encoding --sheet --table --query "
    "--survey-weight --survey-stratum",
    "How the release is written": "--order --spreadsheet-safe --codebook --replace",
    "Further files": "--statement --derived --report-internal --report-frontier --report-attacks "
    "--metadata",
}
"""Heading → options, by the name that comes first."""
PLACE = {flag: (title, n) for title, of in SECTIONS.items() for n, flag in enumerate(of.split())}


class Sectioned(click.Command):
    """A command whose help tells its options by topic, those of no topic last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each topic of which the command has options."""
        found: dict[str, list[tuple[int, tuple[str, str]]]] = {title: [] for title in SECTIONS}
        found["Others"] = []
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for place, option in enumerate(options):
            if (record := option.get_help_record(ctx)) is not None:
                title, within = topic(option, place)
                found[title].append((within, record))
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(records)])


def topic(option: click.Option, place: int) -> tuple[str, int]:
    """Return the heading of an option, and its place there; ``place``: where it has none."""
    return next((PLACE[flag] for flag in option.opts if flag in PLACE), ("Others", place))
