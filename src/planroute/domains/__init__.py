"""The environments in which plans are executed."""
