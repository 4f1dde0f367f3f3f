// The page's address is its state: board, time range, variables, refresh, panel, theme.
import { useSyncExternalStore } from 'react';

const listeners = new Set();
const notify = () => listeners.forEach((listener) => listener());
window.addEventListener('popstate', notify);

const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Path and query of the page; renders again when they change. */
export function useAddress() {
  const href = useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);
  const url = new URL(href, window.location.origin);
  return { path: url.pathname, search: url.search };
}

export function go(href, { replace = false } = {}) {
  window.history[replace ? 'replaceState' : 'pushState'](null, '', href);
  notify();
}

/** The current address with these parameters: undefined removes one, a list gives several. */
export function withParams(changes) {
  const params = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const item of value === undefined ? [] : [value].flat()) {
      params.append(name, item);
    }
  }
  const query = params.toString();
  return window.location.pathname + (query ? `?${query}` : '');
}

export const setParams = (changes, options) => go(withParams(changes), options);

/** uid of /d/UID or /d/UID/any-slug. */
export const boardUid = (path) => /^\/d\/([^/]+)/.exec(path)?.[1];

/** Links to boards are followed without loading the page anew; all others are the browser's. */
export function followLinksInPlace() {
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target === '_blank') {
      return;
    }
    const url = new URL(link.href, window.location.href);
    if (url.origin === window.location.origin && (url.pathname === '/' || url.pathname.startsWith('/d/')) && !link.getAttribute('href').startsWith('#')) {
      event.preventDefault();
      go(url.pathname + url.search);
    }
  });
}
