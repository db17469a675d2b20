export interface Sample {
  /** Includes a histogram's suffix. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Metric {
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** Returns the metrics as Prometheus would read them, by name. */
export async function scrape(baseUrl: string): Promise<Map<string, Metric>> {
  return readMetrics(await (await fetch(`${baseUrl}/metrics`)).text());
}

export function readMetrics(text: string): Map<string, Metric> {
  const metrics = new Map<string, { type: string; samples: Sample[] }>();
  let last: { type: string; samples: Sample[] } | undefined;
  for (const line of text.split('\n')) {
    const [, declared, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (declared !== undefined && type !== undefined) {
      last = { type, samples: [] };
      metrics.set(declared, last);
    }
    const [, name, inner = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = Object.fromEntries([...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v]));
    last?.samples.push({ name, labels, value: Number(value) });
  }
  return metrics;
}

/** Returns the value of the sample with these labels. */
export function sampleValue(metrics: ReadonlyMap<string, Metric>, name: string, labels: Record<string, string> = {}) {
  const samples = metrics.get(name)?.samples ?? [];
  return samples.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    ?.value;
}

/** Returns the label names of a metric's samples, except `le` of histograms. */
export function labelsOf(metric: Metric | undefined): string[] {
  const names = metric?.samples.flatMap(({ labels }) => Object.keys(labels)) ?? [];
  return [...new Set(names)].filter((name) => name !== 'le').toSorted();
}
