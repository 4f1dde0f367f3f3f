// Markdown, HTML or plain text; HTML is sanitised by Grafana's own rules.
import { renderTextPanelMarkdown, textUtil } from '@grafana/data';

export function TextPanel({ options, replace }) {
  if (options.mode === 'code') {
    return <pre style={{ height: '100%', margin: 0 }}>{replace(options.content, {}, options.code?.language === 'json' ? 'json' : 'html')}</pre>;
  }
  const content = replace(options.content, {}, 'html');
  const html = options.mode === 'html' ? textUtil.sanitizeTextPanelContent(content) : renderTextPanelMarkdown(content);
  return <div className="markdown-html" style={{ height: '100%', overflow: 'auto' }} dangerouslySetInnerHTML={{ __html: html }} />;
}
