// Only permissively licensed code gets into the page, and neither a code editor nor a map.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

const PERMITTED = new Set([
  '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'OFL-1.1', 'Unlicense', 'Zlib',
]);
const UNWANTED = /^(monaco-editor|@monaco-editor\/.*|ol|@grafana\/prometheus)$/;
// Copied as files, so that no module of theirs is in the bundle.
const COPIED = ['@fontsource/inter', '@fontsource/roboto-mono'];

/** The package folder that a module lies in, or undefined for the preview's own source. */
function packageFolder(id) {
  const file = id.replace(/^\0/, '').replace(/\?.*$/, '');
  const parts = file.split(`${sep}node_modules${sep}`);
  if (parts.length < 2) {
    return undefined;
  }
  const [first, second] = parts.at(-1).split(sep);
  const name = first.startsWith('@') ? join(first, second) : first;
  return join(parts.slice(0, -1).join(`${sep}node_modules${sep}`), 'node_modules', name);
}

/** A disjunction is permitted if one of its licences is; anything else must be permitted as a whole. */
function permitted(licence) {
  return licence
    .replace(/^\(|\)$/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((part) => PERMITTED.has(part)));
}

function licenceText(folder) {
  const file = readdirSync(folder).find((name) => /^licen[sc]e/i.test(name));
  return file ? readFileSync(join(folder, file), 'utf8').trim() : 'The package carries no licence text.';
}

/** Vite plugin: fails the build on a licence that is not permitted; writes licences.json and licences.txt. */
export function licenceCheck(root) {
  return {
    name: 'licence-check',
    apply: 'build',
    generateBundle(_options, bundle) {
      const folders = new Set(COPIED.map((name) => join(root, 'node_modules', name)));
      for (const chunk of Object.values(bundle).filter((output) => output.type === 'chunk')) {
        for (const [id, module] of Object.entries(chunk.modules)) {
          const folder = module.renderedLength > 0 ? packageFolder(id) : undefined;
          if (folder) {
            folders.add(folder);
          }
        }
      }
      const packages = [...folders].map((folder) => {
        let at = folder;
        while (!existsSync(join(at, 'package.json'))) {
          at = dirname(at);
        }
        const { name, version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
        return { name, version, licence: license ?? 'unknown', text: licenceText(at) };
      });
      packages.sort((a, b) => a.name.localeCompare(b.name));
      const bad = packages.filter(({ name, licence }) => UNWANTED.test(name) || !permitted(licence));
      if (bad.length) {
        this.error(`not to be in the page: ${bad.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`);
      }
      const list = packages.map(({ name, version, licence }) => ({ name, version, licence }));
      this.emitFile({ type: 'asset', fileName: 'licences.json', source: `${JSON.stringify(list, null, 2)}\n` });
      const texts = packages.map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}\n`);
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) });
    },
  };
}
