# Tests print TAP; `make check` runs them and sums up.

TEST_EXTENSIONS = .py .sh
AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	SKIRC='$(abs_top_builddir)/skirc'; export SKIRC; \
	SKIR_SOURCE='$(abs_top_srcdir)'; export SKIR_SOURCE; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	AWK='$(AWK)'; export AWK; \
	NM='$(NM)'; export NM;
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(tap_driver)
PY_LOG_DRIVER = $(tap_driver)
SH_LOG_DRIVER = $(tap_driver)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap-run $(EMULATOR)
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap-run $(PYTHON)
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap-run $(BASH_SHELL)
EXTRA_DIST += tests/freeze tests/mutate tests/grammars.py tests/tap-run tests/tap.py tests/random_modules.py tests/random_gears.py tests/cut_off.py tests/hostile.py tests/tap.sh tests/layers.txt tests/judge.py \
	tests/device_toolkit.py tests/acl_stub/acl/acl.h tests/acl_stub/acl_stub.cpp \
	tests/judge_ascendc.py tests/judge_entries.py tests/judge_graphs.py \
	tests/ascendc_core.py tests/ascendc_source.py tests/numpy_cases.py $(kernel_cases) \
	$(kernel_judges) tests/checkers/aten_movement.py tests/checkers/aten_programs.py \
	tests/checkers/imported.py \
	tests/checkers/sync_model.py tests/checkers/sync_text.py \
	tests/checkers/tf_models.py tests/checkers/tf_movement.py tests/checkers/tf_nodes.py tests/checkers/tf_scatters.py tests/checkers/tf_variables.py \
	tests/checkers/torch_models.py

# Cases of the sample kernels for tests/cli/run/kernels_numpy.py, a file a family.
kernel_cases = \
	tests/cases/__init__.py \
	tests/cases/attention.py \
	tests/cases/elementwise.py \
	tests/cases/matrix.py \
	tests/cases/movement.py \
	tests/cases/normalisation.py \
	tests/cases/quantisation.py \
	tests/cases/reduction.py

# What a second judge of the sample kernels knows, for tests/cli/run/kernels_judge.py.
kernel_judges = \
	tests/judge_kernels/__init__.py \
	tests/judge_kernels/attention.py \
	tests/judge_kernels/draws.py \
	tests/judge_kernels/elementwise.py \
	tests/judge_kernels/matrix.py \
	tests/judge_kernels/modules.py \
	tests/judge_kernels/movement.py \
	tests/judge_kernels/normalisation.py \
	tests/judge_kernels/numbers.py \
	tests/judge_kernels/quantisation.py \
	tests/judge_kernels/reduction.py \
	tests/judge_kernels/table.py

# ---- Unit tests: one cmocka program per module, tests/unit/LAYER/NAME.c ----

unit_headers = \
	tests/unit/accepted_ops.h \
	tests/unit/cut_model.h \
	tests/unit/entry_launch.h \
	tests/unit/entry_runner.h \
	tests/unit/graph_model.h \
	tests/unit/kernel_harness.h \
	tests/unit/launch_oracle.h \
	tests/unit/memory_harness.h \
	tests/unit/object_harness.h \
	tests/unit/object_sources.h \
	tests/unit/parallel.h \
	tests/unit/parsed_module.h \
	tests/unit/random_chain.h \
	tests/unit/random_graph.h \
	tests/unit/sample_op_text.h \
	tests/unit/skrt_harness.h \
	tests/unit/sync_oracle.h \
	tests/unit/sync_simulator.h \
	tests/unit/tensor_helpers.h
# The longest first, so that the last to end are short.
unit_tests = \
	tests/unit/backend/test_backend \
	tests/unit/backend/test_kernels \
	tests/unit/backend/test_kernels_elementwise \
	tests/unit/backend/test_kernels_lists \
	tests/unit/backend/test_kernels_matmul \
	tests/unit/backend/test_kernels_movement \
	tests/unit/backend/test_kernels_tilings \
	tests/unit/backend/test_object \
	tests/unit/backend/test_object_bytes \
	tests/unit/backend/test_object_copy \
	tests/unit/backend/test_object_damage \
	tests/unit/backend/test_object_image \
	tests/unit/backend/test_object_lines \
	tests/unit/backend/test_object_packed \
	tests/unit/backend/test_object_ranks \
	tests/unit/backend/test_object_relocate \
	tests/unit/backend/test_object_results \
	tests/unit/backend/test_races \
	tests/unit/backend/test_rows \
	tests/unit/backend/test_sample_descriptions \
	tests/unit/backend/test_sample_ops \
	tests/unit/backend/test_sample_refusals \
	tests/unit/backend/test_samples \
	tests/unit/backend/test_skrt \
	tests/unit/backend/test_skrt_calls \
	tests/unit/backend/test_skrt_dynamic \
	tests/unit/backend/test_skrt_failures \
	tests/unit/backend/test_skrt_feed \
	tests/unit/backend/test_skrt_meetings \
	tests/unit/backend/test_skrt_profile \
	tests/unit/backend/test_skrt_race \
	tests/unit/backend/test_skrt_streams \
	tests/unit/backend/test_skrt_trace \
	tests/unit/backend/test_skrt_workers \
	tests/unit/backend/test_source_map \
	tests/unit/backend/test_statements \
	tests/unit/backend/test_twin \
	tests/unit/frontend/test_command \
	tests/unit/frontend/test_diff \
	tests/unit/frontend/test_exchange \
	tests/unit/frontend/test_golden \
	tests/unit/frontend/test_golden_lines \
	tests/unit/frontend/test_golden_processes \
	tests/unit/frontend/test_memory_commands \
	tests/unit/frontend/test_npy \
	tests/unit/frontend/test_proto_text \
	tests/unit/frontend/test_session \
	tests/unit/frontend/test_skir \
	tests/unit/frontend/test_template \
	tests/unit/frontend/test_tensor \
	tests/unit/ir/test_addresses \
	tests/unit/ir/test_dims \
	tests/unit/ir/test_guarded \
	tests/unit/ir/test_ir \
	tests/unit/ir/test_json \
	tests/unit/ir/test_memory \
	tests/unit/ir/test_module \
	tests/unit/ir/test_op_ranges \
	tests/unit/ir/test_op_rules \
	tests/unit/ir/test_op_types \
	tests/unit/ir/test_parts \
	tests/unit/ir/test_roundtrip \
	tests/unit/ir/test_scanning \
	tests/unit/ir/test_sk_options \
	tests/unit/passes/test_caches \
	tests/unit/passes/test_call_orders \
	tests/unit/passes/test_early_start \
	tests/unit/passes/test_events \
	tests/unit/passes/test_inline \
	tests/unit/passes/test_launches \
	tests/unit/passes/test_partition \
	tests/unit/passes/test_scope_cuts \
	tests/unit/passes/test_sync_oracle \
	tests/unit/passes/test_sync_simulator \
	tests/unit/passes/test_syncs
if UNIT_TESTS
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
# What a script compares with what protoc says.
check_PROGRAMS += tests/unit/proto_dump
tests_unit_proto_dump_LDADD = libskir.la $(DL_LIBS) $(MATH_LIBS)
EXTRA_DIST += $(unit_headers) tests/fuzz/replay.h tests/fuzz/print_diags.h
AM_DEFAULT_SOURCE_EXT = .c
LDADD = frontend/libfrontend.a libskir.la libskrt.la $(CMOCKA_LIBS) $(DL_LIBS) $(MATH_LIBS)
tests_unit_backend_test_twin_LDADD = backend/kernels/twin.o $(LDADD)
tests_unit_backend_test_sample_descriptions_LDADD = $(LDADD) $(CJSON_LIBS)
tests_unit_backend_test_kernels_LDADD = $(kernel_objects) $(LDADD)
tests_unit_backend_test_kernels_elementwise_LDADD = $(kernel_objects) $(LDADD)
tests_unit_backend_test_kernels_lists_LDADD = $(kernel_objects) $(LDADD)
tests_unit_backend_test_kernels_movement_LDADD = $(kernel_objects) $(LDADD)
tests_unit_backend_test_kernels_matmul_LDADD = $(kernel_objects) $(LDADD)
tests_unit_backend_test_kernels_tilings_LDADD = $(kernel_objects) $(LDADD)
tests_unit_ir_test_addresses_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/ir/test_addresses.c
tests_unit_passes_test_caches_SOURCES = \
	tests/unit/entry_launch.c \
	tests/unit/passes/test_caches.c \
	tests/unit/random_graph.c \
	tests/unit/sync_simulator.c
tests_unit_passes_test_early_start_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/sync_simulator.c \
	tests/unit/passes/test_early_start.c
tests_unit_ir_test_dims_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/ir/test_dims.c
tests_unit_ir_test_op_ranges_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/ir/test_op_ranges.c
tests_unit_ir_test_op_rules_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/ir/test_op_rules.c
tests_unit_passes_test_events_SOURCES = \
	tests/unit/graph_model.c \
	tests/unit/random_graph.c \
	tests/unit/passes/test_events.c
tests_unit_passes_test_launches_SOURCES = \
	tests/unit/launch_oracle.c \
	tests/unit/random_graph.c \
	tests/unit/passes/test_launches.c
tests_unit_passes_test_inline_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/passes/test_inline.c
# What they run is loaded, and needs the runtime as in skirc.
whole_runtime = frontend/libfrontend.a libskir.la $(libskrt_la_OBJECTS) $(CMOCKA_LIBS) \
	$(THREAD_LIBS) $(DL_LIBS) $(MATH_LIBS)
tests_unit_frontend_test_memory_commands_LDADD = $(whole_runtime)
tests_unit_frontend_test_memory_commands_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_unit_backend_test_rows_LDADD = $(whole_runtime)
tests_unit_backend_test_rows_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_unit_passes_test_partition_SOURCES = \
	tests/unit/graph_model.c \
	tests/unit/random_graph.c \
	tests/unit/passes/test_partition.c
tests_unit_passes_test_scope_cuts_SOURCES = \
	tests/unit/cut_model.c \
	tests/unit/graph_model.c \
	tests/unit/passes/test_scope_cuts.c \
	tests/unit/random_graph.c
tests_unit_backend_test_races_SOURCES = \
	tests/unit/backend/test_races.c \
	tests/unit/entry_runner.c \
	tests/unit/random_graph.c \
	tests/unit/sync_simulator.c
tests_unit_ir_test_roundtrip_SOURCES = \
	tests/unit/random_graph.c \
	tests/unit/ir/test_roundtrip.c
tests_unit_passes_test_sync_oracle_SOURCES = \
	tests/unit/passes/test_sync_oracle.c \
	tests/unit/random_graph.c \
	tests/unit/sync_oracle.c \
	tests/unit/sync_simulator.c
tests_unit_passes_test_sync_simulator_SOURCES = \
	tests/unit/sync_simulator.c \
	tests/unit/passes/test_sync_simulator.c
tests_unit_passes_test_call_orders_SOURCES = \
	tests/unit/entry_launch.c \
	tests/unit/graph_model.c \
	tests/unit/parallel.c \
	tests/unit/passes/test_call_orders.c \
	tests/unit/random_graph.c \
	tests/unit/sync_simulator.c
tests_unit_passes_test_syncs_SOURCES = \
	tests/unit/entry_launch.c \
	tests/unit/graph_model.c \
	tests/unit/parallel.c \
	tests/unit/passes/test_syncs.c \
	tests/unit/random_chain.c \
	tests/unit/random_graph.c \
	tests/unit/sync_simulator.c

# ---- Golden files and whole commands ----

# The longest first.
script_tests = \
	tests/checkers/aten_values.py \
	tests/checkers/sync_entries.py \
	tests/checkers/tf_values.py \
	tests/cli/check/accounts.py \
	tests/cli/check/carets.py \
	tests/cli/check/check_compile.py \
	tests/cli/check/estimate.py \
	tests/cli/check/hostile_text.py \
	tests/cli/check/includes.py \
	tests/cli/check/inferred_types.py \
	tests/cli/check/launch_advice.py \
	tests/cli/check/launch_states.py \
	tests/cli/check/launches.py \
	tests/cli/check/op_data.sh \
	tests/cli/check/order_judge.py \
	tests/cli/check/scope_rules.py \
	tests/cli/common/exit_status.sh \
	tests/cli/common/faults.py \
	tests/cli/common/interrupted.py \
	tests/cli/common/jobs.py \
	tests/cli/common/named_files.py \
	tests/cli/common/odd_files.py \
	tests/cli/common/out_of_memory.sh \
	tests/cli/common/several_files.py \
	tests/cli/common/sk_options.sh \
	tests/cli/compile/ascend_conformance.py \
	tests/cli/compile/ascend_headers.py \
	tests/cli/compile/ascend_info.py \
	tests/cli/compile/ascend_launch.py \
	tests/cli/compile/ascend_requests.py \
	tests/cli/compile/ascend_toolchain.py \
	tests/cli/compile/ascendc_judge.py \
	tests/cli/compile/compile_objects.py \
	tests/cli/compile/gears.py \
	tests/cli/compile/gears_blocks.py \
	tests/cli/compile/gears_dispatch.py \
	tests/cli/compile/kernel_dir.sh \
	tests/cli/compile/kernel_dir_faults.py \
	tests/cli/compile/preload_objects.py \
	tests/cli/compile/split_code.py \
	tests/cli/compile/superkernel_package.py \
	tests/cli/export/export.py \
	tests/cli/export/export_refused.py \
	tests/cli/export/export_requests.py \
	tests/cli/export/round_trips.py \
	tests/cli/fmt/canonical_form.py \
	tests/cli/fmt/grammar.py \
	tests/cli/import/ge_gears.py \
	tests/cli/import/import.py \
	tests/cli/import/import_options.py \
	tests/cli/import/import_requests.py \
	tests/cli/import/onnx_operators.py \
	tests/cli/import/onnx_values.py \
	tests/cli/import/proto_text.py \
	tests/cli/import/seed_examples.py \
	tests/cli/import/tf_graphs.py \
	tests/cli/import/torch_programs.py \
	tests/cli/opt/gears_random.py \
	tests/cli/opt/gears_rings.py \
	tests/cli/opt/opt.py \
	tests/cli/opt/pass_plugins.py \
	tests/cli/opt/small_changes.py \
	tests/cli/opt/sync_hints.py \
	tests/cli/opt/sync_remarks.py \
	tests/cli/run/ascend_records.py \
	tests/cli/run/ascend_twin.py \
	tests/cli/run/called_graphs.py \
	tests/cli/run/child_process.py \
	tests/cli/run/contents.py \
	tests/cli/run/debug_options.py \
	tests/cli/run/dynamic_kernels.py \
	tests/cli/run/early_start.py \
	tests/cli/run/examples.py \
	tests/cli/run/examples_numpy.py \
	tests/cli/run/gear_inputs.py \
	tests/cli/run/hostile_symbols.py \
	tests/cli/run/kernels_judge.py \
	tests/cli/run/kernels_numpy.py \
	tests/cli/run/launch_failures.py \
	tests/cli/run/measure.py \
	tests/cli/run/memory.py \
	tests/cli/run/one_aiv.py \
	tests/cli/run/operand_values.py \
	tests/cli/run/profile.py \
	tests/cli/run/race_check.py \
	tests/cli/run/repeated_runs.py \
	tests/cli/run/run_answers.py \
	tests/cli/run/run_outputs.py \
	tests/cli/run/run_values.py \
	tests/cli/run/streams.py \
	tests/cli/run/vector_levels.py \
	tests/cli/run/wrong_kernels.py \
	tests/cli/support/support.py \
	tests/cli/test/golden_files.sh \
	tests/cli/test/golden_runner.py \
	tests/cli/trace/trace.py \
	tests/cli/where/where.py \
	tests/project/bootstrap.sh \
	tests/project/diagnostic_ids.sh \
	tests/project/doc_examples.py \
	tests/project/install.sh \
	tests/project/layers.py \
	tests/project/listed_sources.sh \
	tests/project/other_compiler.sh \
	tests/project/sanitizers.sh \
	tests/project/source_text.py \
	tests/project/tap_run.sh
TESTS += $(script_tests)
EXTRA_DIST += $(script_tests) tests/golden tests/import

# ---- Fuzzing: configure with --enable-fuzz and CC=clang, then `make fuzz` ----

FUZZ_MINUTES = 10
fuzz_programs = \
	tests/fuzz/fuzz_golden \
	tests/fuzz/fuzz_import \
	tests/fuzz/fuzz_npy \
	tests/fuzz/fuzz_object \
	tests/fuzz/fuzz_op_data \
	tests/fuzz/fuzz_options \
	tests/fuzz/fuzz_passes \
	tests/fuzz/fuzz_proto_text \
	tests/fuzz/fuzz_skir
if FUZZ
noinst_PROGRAMS += $(fuzz_programs) tests/fuzz/dictionary
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
# With a main that runs files: a test builds these with sanitizers.
EXTRA_PROGRAMS += $(fuzz_programs) tests/fuzz/dictionary
fuzz_ldflags = $(AM_LDFLAGS)
replay = -DREPLAY
endif
tests_fuzz_fuzz_golden_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_golden_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_import_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_import_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_npy_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_npy_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_object_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_object_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_op_data_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_op_data_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_options_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_options_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_passes_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_passes_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_proto_text_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_proto_text_CPPFLAGS = $(AM_CPPFLAGS) $(replay)
tests_fuzz_fuzz_skir_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_skir_CPPFLAGS = $(AM_CPPFLAGS) $(replay)

# Each program starts from its corpus in the sources, the golden files, the examples and the kernels,
# and keeps what it finds in tests/fuzz/*.found; FUZZ_MINUTES are those of all together.
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.py tests/fuzz/mutate_lines.h tests/fuzz/parts.h tests/fuzz/printed.h
fuzz: all
	$(PYTHON) $(srcdir)/tests/fuzz/fuzz.py --source=$(srcdir) --minutes=$(FUZZ_MINUTES) \
	  $(FUZZ_FLAGS) $(fuzz_programs)

# ---- On aarch64, emulated ----

EXTRA_DIST += tests/aarch64.sh
check-aarch64:
	$(BASH_SHELL) $(srcdir)/tests/aarch64.sh $(srcdir) aarch64
clean-aarch64:
	rm -rf aarch64
.PHONY: check-aarch64 clean-aarch64

# ---- Signals at every system call, and faults at every call that may fail ----

EXTRA_DIST += tests/kill_at.c tests/fail_at.c
torture: all
	for test in interrupted faults; do \
	  SKIRC=$(abs_builddir)/skirc SKIR_SOURCE=$(abs_top_srcdir) CC='$(CC)' \
	    $(PYTHON) $(srcdir)/tests/cli/common/$$test.py --all || exit 1; \
	done
	$(MAKE) $(AM_MAKEFLAGS) $(tortured)
	for test in $(tortured); do \
	  SKIR_TEST_TIMES=8 ./$$test || exit 1; \
	done

# Property tests that try more seeds than a run of all tests has time for.
tortured = \
	tests/unit/passes/test_early_start \
	tests/unit/passes/test_events \
	tests/unit/passes/test_launches \
	tests/unit/passes/test_sync_oracle \
	tests/unit/passes/test_syncs

# ---- Measurements ----

# BENCH_FLAGS passes options on, for example --ops=10000. bench-short measures less, in a few
# minutes; both end with a table of what there are aims for. DUMPS are further inputs of bench-import.
EXTRA_DIST += tests/bench/bench.py tests/bench/generate.py \
	tests/bench/dumps.py tests/bench/ge_graph.proto tests/bench/imports.py \
	tests/bench/device.c tests/bench/device.py tests/bench/entries.py \
	tests/bench/figures.py \
	tests/bench/gears.c tests/bench/gears.py tests/bench/kernels.py tests/bench/links.py
bench_figures = tests/bench/data/figures
bench_options = --skirc=./skirc --figures=$(bench_figures) $(bench_short)
bench-short: bench_short = --short
bench bench-short: all
	$(MKDIR_P) tests/bench/data && rm -f $(bench_figures)
	$(PYTHON) $(srcdir)/tests/bench/bench.py $(bench_options) --data=tests/bench/data \
	  $(BENCH_FLAGS)
	test -n '$(bench_short)' || \
	  $(PYTHON) $(srcdir)/tests/bench/gears.py $(bench_options) --cc='$(CC)'
	$(PYTHON) $(srcdir)/tests/bench/links.py $(bench_options) --cc='$(CC)'
	$(PYTHON) $(srcdir)/tests/bench/entries.py $(bench_options) --cc='$(CC)' \
	  --include=backend/kernels
	$(PYTHON) $(srcdir)/tests/bench/device.py $(bench_options) --cc='$(CC)' \
	  --include=backend/kernels --runtime=.libs/libskrt.a
	$(PYTHON) $(srcdir)/tests/bench/kernels.py $(bench_options)
	$(PYTHON) $(srcdir)/tests/bench/figures.py $(bench_figures)
bench-import: all
	$(PYTHON) $(srcdir)/tests/bench/imports.py --skirc=./skirc --data=tests/bench/data \
	  $(BENCH_FLAGS) $(DUMPS)

# ---- Coverage: configure with --enable-coverage, then `make coverage` ----

EXTRA_DIST += tests/coverage.py
coverage: check
	$(PYTHON) $(srcdir)/tests/coverage.py $(srcdir) .

# ---- After `make install` ----

EXTRA_DIST += tests/installcheck.sh
installcheck-local:
	CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' SKIR_SOURCE='$(abs_top_srcdir)' \
	  $(BASH_SHELL) $(srcdir)/tests/installcheck.sh '$(DESTDIR)' '$(bindir)' '$(pkgconfigdir)'

clean-tests:
	rm -rf tests/bench/data tests/fuzz/*.found tests/fuzz/*.profraw tests/fuzz/fuzz.dict
	find . -name '*.gc[dn][ao]' -exec rm -f {} +
.PHONY: bench bench-import bench-short clean-tests coverage fuzz torture
