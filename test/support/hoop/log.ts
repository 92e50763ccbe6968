import type { SeenRequest } from './options.ts';

export type LoggedRequest = SeenRequest & { readonly status: number; readonly caller: string };

/** All received requests in order, and the number of calls of each route. */
export class RequestLog {
  readonly requests: LoggedRequest[] = [];
  readonly #counts = new Map<string, number>();
  #total = 0;

  /** Counts a request of a route; returns its number among all, and among those of the route. */
  number(route: string): { readonly index: number; readonly routeIndex: number } {
    const routeIndex = (this.#counts.get(route) ?? 0) + 1;
    this.#counts.set(route, routeIndex);
    this.#total += 1;
    return { index: this.#total, routeIndex };
  }

  add(request: LoggedRequest): void {
    this.requests.push(request);
  }

  /** How many requests came, of one route or of all. */
  count(route?: string): number {
    return route === undefined ? this.#total : (this.#counts.get(route) ?? 0);
  }

  /** The requests that may have changed something. */
  writes(): readonly LoggedRequest[] {
    return this.requests.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method));
  }

  clear(): void {
    this.requests.length = 0;
    this.#counts.clear();
    this.#total = 0;
  }
}
