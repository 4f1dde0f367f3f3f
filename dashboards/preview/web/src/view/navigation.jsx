// The bar at the top: all boards, theme, what this page is.
import { ToolbarButton } from '@grafana/ui';
import { boardUid, setParams } from '../model/address.js';

/** Time range and refresh go along to the next board; a variable goes along where that board has it too. */
function hrefOf(board) {
  const kept = [...new URLSearchParams(window.location.search)].filter(([name]) => ['from', 'to', 'refresh', 'theme'].includes(name) || name.startsWith('var-'));
  const query = new URLSearchParams(kept).toString();
  return `/d/${encodeURIComponent(board.uid)}${query ? `?${query}` : ''}`;
}

export function Navigation({ boards, path, theme, onTheme, onAbout }) {
  const next = theme.isDark ? 'light' : 'dark';
  return (
    <header className="navigation">
      <a className="brand" href="/">vLLM Monitoring Kit<span className="preview-mark">preview</span></a>
      <nav aria-label="Dashboards">
        {boards.map((board) => (
          <a key={board.uid} href={hrefOf(board)} aria-current={boardUid(path) === board.uid ? 'page' : undefined}>{board.title}</a>
        ))}
      </nav>
      <ToolbarButton icon="palette" variant="canvas" aria-label={`Change to the ${next} theme`} onClick={() => {
        setParams({ theme: undefined }, { replace: true }); // the reader's choice outlives the link's
        onTheme(next);
      }}>{next === 'light' ? 'Light' : 'Dark'}</ToolbarButton>
      <ToolbarButton icon="info-circle" variant="canvas" onClick={onAbout}>About</ToolbarButton>
    </header>
  );
}
