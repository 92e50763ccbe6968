// A plugin of the bundler and of the tests: a module that imports a YAML file, such as an example workflow, gets its text.
import { readFileSync } from 'node:fs';

/** Returns the plugin. */
export function yamlTexts() {
  return {
    name: 'yaml-texts',
    load(id) {
      return /\.ya?ml$/.test(id) ? { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`, moduleType: 'js' } : null;
    },
  };
}
