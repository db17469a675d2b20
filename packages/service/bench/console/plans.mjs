/** Runs a read again with EXPLAIN before each of its statements, and returns the indexes used. */
export async function withPlans(database, once) {
  const { transaction, query } = database;
  const used = new Set();
  const explaining = (run) => async (asked, values) => {
    const text = typeof asked === 'string' ? asked : asked.text;
    if (/^\s*(select|with|insert)\b/i.test(text)) {
      const byIndex = typeof asked === 'string' ? undefined : asked.byIndex;
      const explained = { text: `explain (format json) ${text}`, ...(byIndex === undefined ? {} : { byIndex }) };
      const [row] = await run(explained, values);
      for (const [, kind, name] of scans(row['QUERY PLAN']))
        used.add(kind === 'Seq Scan' ? `reads all of ${name}` : name);
    }
    return run(asked, values);
  };
  database.transaction = (work, options) => transaction((tx) => work({ ...tx, query: explaining(tx.query) }), options);
  database.query = explaining(query);
  try {
    await once().catch(() => undefined);
  } finally {
    database.transaction = transaction;
    database.query = query;
  }
  return [...used].filter((name) => !SMALL.test(name)).join(', ');
}

/** Small tables, whose scans are not listed. */
const SMALL =
  /^(reads all of )?(channels|channel_(brandings|products|payment_channels)|callback_urls|data_key_rotations|delivery_pauses|images|products|payment_channels|job_marks)(_|$)/;

function scans(plan) {
  const found = [];
  const visit = (node) => {
    if (node['Index Name']) found.push(['', 'Index', withoutWeek(node['Index Name'])]);
    else if (node['Node Type'] === 'Seq Scan') found.push(['', 'Seq Scan', node['Relation Name']]);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan[0].Plan);
  return found;
}

/** Replaces a partition's week by a placeholder, so that one name represents all partitions. */
const withoutWeek = (name) => name.replace(/_(\d{8}|default)_/, '_*_');
