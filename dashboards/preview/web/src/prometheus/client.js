// Prometheus' HTTP API, reached through the server that serves this page.

/** Parameters of a call as a query string; a list becomes one parameter for each of its items. */
function encoded(params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of [value].flat()) {
      query.append(name, item);
    }
  }
  return query;
}

/**
 * Calls the API and gives the whole answer: data, and warnings where there are some.
 * Throws an Error whose message is what Prometheus, or the server in between, says is wrong.
 */
export async function call(path, params = {}, { post = false, signal } = {}) {
  const url = `/api/v1/${path}`;
  const query = encoded(params);
  const response = await (post ? fetch(url, { method: 'POST', body: query, signal }) : fetch(`${url}?${query}`, { signal }));
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`HTTP ${response.status} from ${url}: ${text.slice(0, 200)}`);
  }
  if (body.status !== 'success') {
    throw new Error(body.error ?? `HTTP ${response.status} from ${url}`);
  }
  return body;
}

/** The data of an answer. */
export const get = async (path, params, options) => (await call(path, params, options)).data;

/** A series as PromQL writes it. */
export const seriesText = ({ __name__: name = '', ...labels }) =>
  `${name}{${Object.entries(labels).map(([key, value]) => `${key}="${value}"`).join(',')}}`;
