// Links of a board and of its panels.

/** Address of a board, with the time range and the variables of this one where the link keeps them. */
export function boardHref(uid, link, templates) {
  const params = [link.keepTime && templates.timeParams(), link.includeVars && templates.variableParams()].filter(Boolean).join('&');
  return `/d/${encodeURIComponent(uid)}${params ? `?${params}` : ''}`;
}

/** A link with an address of its own. */
export function urlHref(link, templates, scopedVars) {
  const base = templates.replace(link.url, scopedVars, 'uriencode');
  const params = [link.keepTime && templates.timeParams(), link.includeVars && templates.variableParams()].filter(Boolean).join('&');
  return params ? `${base}${base.includes('?') ? '&' : '?'}${params}` : base;
}

/** The boards that carry all tags of a link, without the one that is open. */
export const linkedBoards = (link, boards, openUid) => boards.filter((board) => board.uid !== openUid && (link.tags ?? []).every((tag) => board.tags.includes(tag)));

/** An alert's dashboard_url, on this page rather than on the Grafana that it names; undefined if it opens no board. */
export function alertHref(url, range) {
  try {
    const { pathname, search } = new URL(url, window.location.origin);
    const params = new URLSearchParams(search);
    for (const [name, value] of new URLSearchParams(range)) {
      if (!params.has(name)) {
        params.set(name, value);
      }
    }
    const start = pathname.indexOf('/d/');
    return start < 0 ? undefined : `${pathname.slice(start)}?${params}`;
  } catch {
    return undefined;
  }
}
