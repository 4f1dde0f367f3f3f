import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { grafanaFiles } from './plugins/grafana-files.js';
import { leftOut } from './plugins/left-out.js';
import { licenceCheck } from './plugins/licence-check.js';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  plugins: [leftOut(), react(), grafanaFiles(here), licenceCheck(here)],
  logLevel: 'error',
  define: { 'process.env': {} },
  build: { target: 'es2022', outDir: 'site', emptyOutDir: true, chunkSizeWarningLimit: 30000, reportCompressedSize: false },
});
