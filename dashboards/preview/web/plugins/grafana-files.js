// Fonts and icons, at the addresses under /public/ where Grafana's styles and components ask for them.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FONTS = {
  'inter/Inter-Regular.woff2': '@fontsource/inter/files/inter-latin-400-normal.woff2',
  'inter/Inter-Medium.woff2': '@fontsource/inter/files/inter-latin-500-normal.woff2',
  'inter/Inter-Italic.woff2': '@fontsource/inter/files/inter-latin-400-italic.woff2',
  'inter/Inter-MediumItalic.woff2': '@fontsource/inter/files/inter-latin-500-italic.woff2',
  'roboto/L0xTDF4xlVMF-BfR8bXMIhJHg45mwgGEFl0_3vrtSM1J-gEPT5Ese6hmHSh0mQ.woff2': '@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2',
};

/** Vite plugin: copies what Grafana's application would serve beside the bundle. */
export function grafanaFiles(root) {
  const packages = join(root, 'node_modules');
  const icons = join(packages, '@grafana/ui/dist/public/img');
  return {
    name: 'grafana-files',
    apply: 'build',
    generateBundle() {
      for (const [name, file] of Object.entries(FONTS)) {
        this.emitFile({ type: 'asset', fileName: `public/fonts/${name}`, source: readFileSync(join(packages, file)) });
      }
      // Icons that components of @grafana/ui ask for, but that its package leaves to the application.
      for (const file of readdirSync(join(root, 'icons'))) {
        this.emitFile({ type: 'asset', fileName: `public/build/img/icons/unicons/${file}`, source: readFileSync(join(root, 'icons', file)) });
      }
      for (const file of readdirSync(icons, { recursive: true }).filter((name) => name.endsWith('.svg'))) {
        this.emitFile({ type: 'asset', fileName: `public/build/img/${file}`, source: readFileSync(join(icons, file)) });
      }
    },
  };
}
