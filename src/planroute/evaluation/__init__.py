"""What is measured on a finished trace, in every domain: agreement of modes, planning events, failure labels."""
