// Parts of @grafana/ui that no panel of the preview shows: code editors and the map formats of table cells.
const PARTS = /\/(ReactMonacoEditor|OpenLayersProvider)\.mjs$|\/CodeMirror\/CodeEditor\.mjs$|^\.\/CodeEditor\.mjs$/;
const NAME = '\0left-out';
const SOURCE = `
  export const ReactMonacoEditor = () => null;
  export const CodeMirrorEditor = () => null;
  export const CodeEditor = () => null;
  export const OpenLayersProvider = ({ children }) => children;
  export default ReactMonacoEditor;
`;

/** Vite plugin: puts components that draw nothing in their places, so that their libraries are not loaded. */
export function leftOut() {
  return {
    name: 'left-out',
    enforce: 'pre',
    resolveId(source, importer) {
      return PARTS.test(source) && importer?.includes('/@grafana/ui/') ? NAME : undefined;
    },
    load(id) {
      return id === NAME ? SOURCE : undefined;
    },
  };
}
