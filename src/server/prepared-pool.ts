import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Pool, PoolClient } from 'pg';

const writeCommands = ['UPDATE', 'DELETE', 'INSERT', 'MERGE'] as const;

/** A pool whose statements are parsed once each: half of what a small statement costs PGlite. Their texts must be few. */
export function createPreparedPool(pool: Pool): PostgresPool {
  const names = new Map<string, string>();
  return { connect: async () => new PreparedClient(await pool.connect(), names), end: () => pool.end() };
}

class PreparedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #names: Map<string, string>;

  constructor(client: PoolClient, names: Map<string, string>) {
    this.#client = client;
    this.#names = names;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    return typeof text === 'string' ? this.#run<R>(text, values) : text;
  }

  async #run<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const name = this.#names.get(text) ?? `s${this.#names.size}`;
    this.#names.set(text, name);
    const { command, rowCount, rows } = await this.#client.query({ name, text, values: [...values] });
    return { command: writeCommands.find((write) => write === command) ?? 'SELECT', rowCount: rowCount ?? 0, rows };
  }

  release(): void {
    this.#client.release();
  }
}
