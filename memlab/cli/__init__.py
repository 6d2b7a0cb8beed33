"""The command line: ``memlab demo | recall | check | lab | bench``."""

from memlab.cli.main import main as main
