"""A scikit-learn transformer over ``anonymize`` (extra ``sklearn``)."""

from incrowd.sklearn.anonymizer import Anonymizer as Anonymizer
