import type { Dialect, ServerInfo } from '../dialect.ts';
import { hoopDialect } from './hoop/index.ts';
import { terraformKinds, terraformProvider } from './hoop/terraform.ts';
import { interfaceDialect } from './interface/index.ts';

type DialectName = 'interface' | 'hoop';

const dialects: Readonly<Record<DialectName, Dialect>> = { interface: interfaceDialect, hoop: hoopDialect };

/** The dialect of that name, or the one that the hello gives away: any other gateway speaks the interface. */
export function dialectOf(name: DialectName | 'auto', hello?: ServerInfo): Dialect {
  if (name !== 'auto') return dialects[name];
  return /^hoopgateway\b/i.test(hello?.server ?? '') ? dialects.hoop : dialects.interface;
}

/** Prefixes of secret values that are references; all that any dialect knows where it is not known yet which is spoken. */
export function referencePrefixesOf(name: DialectName | 'auto'): readonly string[] {
  const spoken = name === 'auto' ? Object.values(dialects) : [dialects[name]];
  return [...new Set(spoken.flatMap((dialect) => dialect.referencePrefixes))];
}

/** What the gateways' own Terraform provider is called, and which of its types stand for which kind. */
export const terraform: { readonly name: string; readonly kinds: Readonly<Record<string, string>> } = {
  name: terraformProvider,
  kinds: terraformKinds,
};
