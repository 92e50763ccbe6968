import type { DialectChoice } from '../../model/dialects.ts';
import type { Dialect, ServerInfo, TerraformTypes } from '../dialect.ts';
import { dialects } from './index.ts';

/** Returns the dialect of that name; for `auto`, the one that recognizes the server info, else the default. */
export function chooseDialect(choice: DialectChoice, serverInfo?: ServerInfo): Dialect {
  const isChosen = ({ name, recognizes }: Dialect): boolean =>
    choice === 'auto' ? serverInfo !== undefined && recognizes?.(serverInfo) === true : name === choice;
  const chosen = dialects.find(isChosen) ?? dialects.find(({ recognizes }) => recognizes === undefined);
  if (chosen === undefined) throw new Error('no dialect is the default');
  return chosen;
}

/** Lists the prefixes of secret values that are references; for `auto`, those of all dialects. */
export function referencePrefixesOf(dialect: string): readonly string[] {
  const spoken = dialect === 'auto' ? dialects : dialects.filter(({ name }) => name === dialect);
  return [...new Set(spoken.flatMap(({ referencePrefixes }) => referencePrefixes))];
}

/** Returns the Terraform provider of the one dialect that has one. */
export function terraformProvider(): TerraformTypes {
  const [terraform] = dialects.flatMap((dialect) => dialect.terraform ?? []);
  if (terraform === undefined) throw new Error('no dialect has a Terraform provider');
  return terraform;
}
