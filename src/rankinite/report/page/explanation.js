// An explanation: what each feature does to the ranking of two documents, of a query, or of all queries.

function explanationSection(found) {
  const { subject, lead, label, columns, features, others } = found;
  const drawing = () => {
    const found = signedBars(features.map((one) => one.name), features.map((one) => one.value), `${subject}, ${label}: ${named}.`, explanationTable({ subject, label, columns, features }));
    found.querySelector("details").open = true; // the values of the features are half of the explanation
    return found;
  };
  const named = features.slice(0, 3).map((one) => `${one.name} ${short(one.value, 3)}`).join(", ");
  return section("explained", "Feature by feature", lead,
    features.length ? drawing() : null,
    leftOut(others, "feature", "with smaller values"));
}

function explanationTable({ subject, label, columns, features }) {
  const shown = (value) => (typeof value === "number" || value === null ? short(value) : value);
  return table([
    { label: "feature", class: "text", value: (row) => row.name },
    { label, right: true, value: (row) => row.value, cell: (row) => short(row.value) },
    ...columns.map((name, k) => ({ label: name, right: true, value: (row) => row.others[k], cell: (row) => shown(row.others[k]) })),
  ], features, { label: `${subject}: numbers`, cards: "plain" });
}
