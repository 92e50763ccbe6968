// A plugin of the bundler: writes the licenses of the packages that a bundle contains, and its bill of materials (CycloneDX 1.6).
// Both depend on nothing but the bundle and the lockfile, so two builds of one commit are equal.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns a plugin that adds `licenses.txt` and `sbom.cdx.json` to a bundle of the product named in package.json. */
export function bundledPackages() {
  return {
    name: 'bundled-packages',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
      const folders = [...new Set(modules.flatMap((id) => packageFolder(id) ?? []))].toSorted();
      const found = folders.map(readPackage);
      const unlicensed = found.filter(({ license }) => license === '');
      if (unlicensed.length > 0) this.error(`no license text: ${unlicensed.map(({ name }) => name).join(', ')}`);
      const text = found.map(({ name, version, license }) => `${name} ${version}\n\n${license}`).join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: text });
      this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: `${JSON.stringify(billOfMaterials(found), null, 2)}\n` });
    },
  };
}

/** Returns the folder of the package that a module belongs to, such as `node_modules/@octokit/rest`; undefined for our own modules. */
function packageFolder(id) {
  const [, folder] = /^[\s\S]*?(node_modules\/(?:[\s\S]*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/')) ?? [];
  return folder;
}

/** Reads what the notices and the bill of materials state about a package. */
function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { folder, name, version, spdx: license, license: licenseText(folder) };
}

/** Returns the license file of a package, or that section of its README; empty when there is neither. */
function licenseText(folder) {
  const names = readdirSync(folder);
  const file = names.find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return `${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  const readme = names.find((entry) => /^readme/i.test(entry));
  const [, section = ''] = (readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8')).split(/^#+ licen[cs]e\s*$/im);
  return section.trim() === '' ? '' : `${section.trim()}\n`;
}

/** Returns the bill of materials of the product in package.json. */
function billOfMaterials(found) {
  const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const component = (one, type, integrity) => ({
    type,
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    licenses: [{ license: { id: one.spdx } }],
    purl: purlOf(one),
    ...(integrity === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }),
  });
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component({ name, version, spdx: license }, 'application') },
    components: found.map((one) => component(one, 'library', packages[one.folder]?.integrity)),
    dependencies: [{ ref: purlOf({ name, version }), dependsOn: found.map(purlOf) }],
  };
}

/** Returns the package URL of an npm package (https://github.com/package-url/purl-spec). */
function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}
