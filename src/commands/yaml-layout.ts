import * as yaml from 'prettier/plugins/yaml';
import { format } from 'prettier/standalone';

/** Lays out YAML text uniformly: two spaces, one space inside braces, at most 120 columns. Rejects invalid YAML. */
export function layOutYaml(text: string): Promise<string> {
  return format(text, { parser: 'yaml', plugins: [yaml], printWidth: 120, endOfLine: 'auto' });
}
