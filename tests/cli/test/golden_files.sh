# The golden files, by skirc's own runner.
exec "$SKIRC" test --tap "$SKIR_SOURCE/tests/golden"
