import { AppError } from '../../model/errors.ts';
import type { Dialect, Hello } from '../dialect.ts';
import { interfaceDialect } from './interface/index.ts';

const dialects: ReadonlyMap<string, Dialect> = new Map([['interface', interfaceDialect]]);

/** Which dialect a `Server` header stands for; any other gateway speaks the interface. */
const servers: readonly { readonly header: RegExp; readonly dialect: string }[] = [{ header: /^hoopgateway\b/i, dialect: 'hoop' }];

/** The dialect of that name, or the one that the hello gives away. */
export function dialectOf(name: string, hello?: Hello): Dialect {
  const known = name === 'auto' ? (servers.find(({ header }) => header.test(hello?.server ?? ''))?.dialect ?? 'interface') : name;
  const dialect = dialects.get(known);
  if (dialect !== undefined) return dialect;
  throw new AppError('api/unknown-dialect', 4, `the gateway's dialect ${known} is not supported by this version`, {
    hint: `supported: ${[...dialects.keys()].join(', ')}`,
  });
}
