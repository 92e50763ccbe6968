/** A value of a metric, with its labels; `suffix` follows the name of the metric. */
type MetricSample = { readonly suffix?: string; readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** A metric in the terms of Prometheus. */
export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
};

/** Returns metrics in the text format of Prometheus, version 0.0.4. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
      ...samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelsText(labels)} ${value}\n`),
    ])
    .join('');
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** A finished request; `route` is undefined when no route has its path and method. */
type CountedRequest = { readonly method: string; readonly route: string | undefined; readonly status: number; readonly seconds: number };

/** Counts the requests of this process. */
export type RequestMetrics = { readonly count: (request: CountedRequest) => void; readonly metrics: () => readonly Metric[] };

type RequestCounter = { readonly labels: Readonly<Record<string, string>>; value: number };
type LatencyHistogram = { readonly labels: Readonly<Record<string, string>>; readonly buckets: number[]; sum: number };

const bucketSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates empty counters. Their labels are routes as they are registered, so their number is bounded. */
export function createRequestMetrics(): RequestMetrics {
  const counters = new Map<string, RequestCounter>();
  const histograms = new Map<string, LatencyHistogram>();
  return {
    count({ method, route = 'none', status, seconds }) {
      const counter = counters.get(`${method} ${route} ${status}`) ?? { labels: { method, route, status: String(status) }, value: 0 };
      counters.set(`${method} ${route} ${status}`, counter);
      counter.value += 1;
      const histogram = histograms.get(`${method} ${route}`) ?? { labels: { method, route }, buckets: emptyBuckets(), sum: 0 };
      histograms.set(`${method} ${route}`, histogram);
      const bucket = bucketSeconds.findIndex((bound) => seconds <= bound);
      const at = bucket < 0 ? bucketSeconds.length : bucket;
      histogram.buckets[at] = (histogram.buckets[at] ?? 0) + 1;
      histogram.sum += seconds;
    },
    metrics: () => [
      {
        name: 'ostiary_http_requests_total',
        help: 'Requests by method, route and status; the route is none where no route has the path and method.',
        type: 'counter',
        samples: [...counters.values()],
      },
      {
        name: 'ostiary_http_request_duration_seconds',
        help: 'Time until the response is ready, by method and route.',
        type: 'histogram',
        samples: [...histograms.values()].flatMap((histogram) => histogramSamples(histogram)),
      },
    ],
  };
}

function emptyBuckets(): number[] {
  return Array.from({ length: bucketSeconds.length + 1 }, () => 0);
}

/** Returns the samples of a histogram; each bucket contains the ones before it. */
function histogramSamples({ labels, buckets, sum }: LatencyHistogram): readonly MetricSample[] {
  let total = 0;
  const counted = buckets.map((value, index): MetricSample => {
    total += value;
    return { suffix: '_bucket', labels: { ...labels, le: String(bucketSeconds[index] ?? '+Inf') }, value: total };
  });
  return [...counted, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}
