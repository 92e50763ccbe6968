import type { Client, HttpResponse } from './client.ts';

/** The answers to the reads of a part, by path. */
export type KeptAnswers = Map<string, HttpResponse>;

/** Returns a client that keeps what it reads, or `takes` what was kept, each answer once: a read of everything repeats no read of a part. */
export function keepAnswers(client: Client, kept: KeptAnswers, takes: boolean): Client {
  return {
    ...client,
    async send(request) {
      if (request.method !== 'GET') return client.send(request);
      const known = takes ? kept.get(request.path) : undefined;
      kept.delete(request.path);
      if (known !== undefined) return known;
      const answer = await client.send(request);
      if (!takes) kept.set(request.path, answer);
      return answer;
    },
  };
}
