"""Reads a run file of synthetic records (tests/verify/synthetic_record.h) with h5py and with xarray.

usage: read_run_file.py FILE CASES
"""

import sys

import h5py
import numpy
import xarray

STAGES = ("w13", "silu", "w2", "output", "logits")
COMPARISONS = ("own", "posterior", "end_to_end", "reference")


def every_dataset(group):
    found = []
    group.visititems(lambda name, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


# What HDFView 3.1 to 3.3 shows, by its source (HDFGroup/hdfview, hdf/object/h5): H5Datatype.allocateArray has arrays for
# integers of 1 to 8 bytes, floats of 4, 8 and 16, and strings; a dataset of 2-byte floats is refused ("data value is null",
# "Inappropriate type": issues 138 and 335 there). Compound, enum, opaque, array and vlen datasets have views of their own
# with gaps. H5ScalarAttr and H5CompoundAttr read numbers, strings, and the two kinds that dimension scales bring: lists of
# object references, and pairs of a reference and an integer. HDF5's own Java library reads the same kinds.
PLAIN = {h5py.h5t.INTEGER: (1, 2, 4, 8), h5py.h5t.FLOAT: (4, 8)}
SCALE_ATTRIBUTES = ("DIMENSION_LIST", "REFERENCE_LIST")


def is_shown(kind, space):
    if space.get_simple_extent_type() == h5py.h5s.NULL:  # shown as if it were a scalar (issue 140)
        return False
    return kind.get_class() == h5py.h5t.STRING or kind.get_size() in PLAIN.get(kind.get_class(), ())


def check_viewers(run):
    def check(name, item):
        if isinstance(item, h5py.Dataset):
            assert is_shown(item.id.get_type(), item.id.get_space()), f"{name} is {item.dtype}: viewers refuse it"
            assert item.ndim in (1, 2), name  # a table as it is, without a choice of slices
            filters = item.id.get_create_plist()
            used = {filters.get_filter(i)[0] for i in range(filters.get_nfilters())}
            assert used <= {h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE}, name  # others are plugins
            assert not item.is_virtual and item.external is None, name
        for attribute in item.attrs:
            value = h5py.h5a.open(item.id, attribute.encode())
            assert attribute in SCALE_ATTRIBUTES or (
                is_shown(value.get_type(), value.get_space()) and value.shape == ()), f"{name}@{attribute}"

    check("/", run)
    run.visititems(check)
    for name in run["/"]:  # nothing hangs on links that a tree does not follow
        assert isinstance(run.get(name, getlink=True), h5py.HardLink), name


def check_h5py(path, cases):
    with h5py.File(path, "r") as run:
        assert run.attrs["schema"] == "voltcheck.run/1", run.attrs["schema"]
        assert isinstance(run.attrs["commit"], str)
        assert run.attrs["arguments"] == "gate --suite synthetic --seed 7"
        assert run.attrs["seed"] == 7 and run.attrs["cases"] == cases and run.attrs["complete"] == 1
        assert run.attrs["planned"] == cases and run.attrs["options"] == "--device simulator"
        assert run["kernels/ptx"].asstr()[0] == ".version 7.8\n" and run["kernels/name"].asstr()[0] == "mine.ptx"
        assert run["cases/verdict"].dtype.kind == "S" and run["cases/reason"].dtype.kind == "O"

        descriptors = run["cases/descriptor"].asstr()[:]
        assert len(descriptors) == cases and isinstance(descriptors[3], str)
        assert descriptors[3].endswith("seed=3"), descriptors[3]
        assert run["cases/reason"].asstr()[4] == "w2: \u00b5 over budget"
        assert run["cases/verdict"].asstr()[4] == "failed" and run["cases/verdict"].asstr()[5] == "passed"
        assert (run["cases/tokens"][:] == 1 + numpy.arange(cases) % 9).all()
        assert (run["cases/slots"][:] == 4 * run["cases/tokens"][:]).all()
        assert run["cases/w13_tile"].asstr()[0] and (run["cases/w13_splits"][:] == 1).all()
        assert (run["counters/mma"][:] == 3 * numpy.arange(cases)).all()

        for stage in STAGES:
            for comparison in COMPARISONS:
                group = run[f"metrics/{stage}/{comparison}"]
                assert group["rms"].dtype == numpy.float32
                assert (group["rms"][:] == numpy.float32(0.25) * numpy.arange(cases)).all()
                assert (group["max_abs_row"][:] == numpy.arange(cases)).all()
                assert ("use_p99" in group) == (comparison != "reference")
                histogram = run[f"histograms/{stage}/{comparison}"]
                assert histogram.shape == (cases, 18)
                assert (histogram[:, 0] == 99).all() and (histogram[:, 17] == 1).all()
        assert list(run["histograms/ulp"][:5]) == [0, 1, 2, 4, 8]

        failed = numpy.arange(cases)[4::5]
        assert (run["findings/case"][:] == failed).all()
        assert (run["findings/line"][:] == 17).all() and (run["findings/thread_x"][:] == 31).all()
        assert run["findings/checker"].asstr()[0] == "race"
        assert sorted(map(int, run["failures"])) == list(failed)
        got = run["failures/4/w2/got"]
        assert got.dtype == numpy.float32
        assert got[0, 2] == -2 and numpy.isinf(got[1, 1]) and got[1, 2] == numpy.float16(2**-24)
        assert run["failures/4/w2/want"].dtype == numpy.float64
        assert list(run["failures/4/logits/got"][0]) == [1.25, 2.5]

        w2 = run["metrics/w2"]
        assert w2["departure_k"][4] == 64 and w2["departure_split"][4] == 1 and w2["departure_got"][4] == 1.5
        assert w2["departure_k"][3] == -1 and numpy.isnan(w2["departure_got"][3])
        assert (w2["hidden"][:] == numpy.arange(cases)).all()
        assert (w2["parts/tile"][:] == 3).all() and (w2["parts/tile_rms"][:] == 0.25).all()
        assert (w2["parts/expert"][:] == -1).all() and numpy.isnan(w2["parts/expert_rms"][:]).all()
        assert (run["logits/kl_max"][:] == numpy.float32(0.5) * numpy.arange(cases)).all()
        assert (run["logits/first_flip"][:] == numpy.arange(cases) - 1).all()
        assert sorted(map(int, run["breakdown"])) == list(failed)
        tiles = run["breakdown/4/w2/tile"]
        assert list(tiles["max_abs"]) == [0.5, 4] and list(tiles["nonfinite"]) == [0, 1]

        check_viewers(run)
        rows = 0
        for dataset in every_dataset(run):
            assert isinstance(dataset.attrs["long_name"], str) and dataset.attrs["long_name"], dataset.name
            if dataset.dtype.kind in "fiu" and not h5py.h5ds.is_scale(dataset.id):
                assert isinstance(dataset.attrs["units"], str), dataset.name
            if not h5py.h5ds.is_scale(dataset.id):
                for dimension in dataset.dims:
                    assert len(dimension) == 1, f"{dataset.name} has a dimension without a scale"
            rows += dataset.name.startswith(("/cases/", "/metrics/")) and len(dataset) == cases
        assert rows > 200, rows
        own = run["metrics/w2/own/rms"]
        assert float(own[2]) == 0.5 and own.attrs["units"] == "1"


def check_xarray(path, cases):
    # h5netcdf takes seconds to open a group whose dimension hundreds of columns share: each of these is opened once,
    # they stand for all, and check_h5py sees to the scales of the rest.
    groups = {}
    for name in ("/", "/cases", "/counters", "/findings", "/failures/4/w2", "/breakdown/4/w2/tile", "/metrics/silu",
                 "/histograms/w13"):
        with xarray.open_dataset(path, group=name, engine="h5netcdf") as group:
            groups[name] = group.load()
        for column in groups[name].data_vars.values():
            assert column.attrs["long_name"], f"{name}/{column.name}"
            assert column.dtype.kind != "S", f"{name}/{column.name} is bytes, not str"
    assert groups["/"].attrs["schema"] == "voltcheck.run/1" and groups["/"].sizes["case"] == cases
    listed = groups["/cases"]
    assert listed.descriptor.dims == ("case",) and str(listed.verdict[4].values) == "failed"
    assert str(groups["/metrics/silu"].verdict[0].values) == "passed"
    assert groups["/histograms/w13"].own.dims == ("case", "ulp")
    assert groups["/findings"].message.dims == ("finding",)
    tiles = groups["/breakdown/4/w2/tile"]
    assert tiles.rms.dims == ("tile",) and list(tiles.tile.values) == [0, 1]
    failure = groups["/failures/4/w2"]
    assert failure.got.dims == ("row", "col") and list(failure.row.values) == [7, 8]
    assert list(failure.col.values) == [11, 12, 13] and failure.got.dtype == numpy.float32


if __name__ == "__main__":
    check_h5py(sys.argv[1], int(sys.argv[2]))
    check_xarray(sys.argv[1], int(sys.argv[2]))
