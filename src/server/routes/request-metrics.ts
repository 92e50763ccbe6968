/** A value of a metric, with its labels. */
type MetricSample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** A metric in the terms of Prometheus. */
export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly MetricSample[];
};

/** Returns metrics in the text format of Prometheus, version 0.0.4. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
      ...samples.map(({ labels = {}, value }) => `${name}${labelsText(labels)} ${value}\n`),
    ])
    .join('');
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** A finished request; `route` is undefined when no route has its path and method. */
type CountedRequest = { readonly method: string; readonly route: string | undefined; readonly status: number };

/** Counts the requests of this process. */
export type RequestMetrics = { readonly count: (request: CountedRequest) => void; readonly metrics: () => readonly Metric[] };

/** Creates empty counters. Their labels are routes as they are registered, so their number is bounded. */
export function createRequestMetrics(): RequestMetrics {
  const counters = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  return {
    count({ method, route = 'none', status }) {
      const counter = counters.get(`${method} ${route} ${status}`) ?? { labels: { method, route, status: String(status) }, value: 0 };
      counters.set(`${method} ${route} ${status}`, counter);
      counter.value += 1;
    },
    metrics: () => [
      {
        name: 'ostiary_http_requests_total',
        help: 'Requests by method, route and status; the route is none where no route has the path and method.',
        type: 'counter',
        samples: [...counters.values()],
      },
    ],
  };
}
