// A board's links to other boards (by tag) and to other pages.
import { textUtil } from '@grafana/data';
import { Dropdown, LinkButton, Menu, ToolbarButton } from '@grafana/ui';
import { boardHref, linkedBoards, urlHref } from '../model/links.js';

export function BoardLinks({ board, boards, templates }) {
  return (board.links ?? []).map((link, i) => {
    const target = link.targetBlank ? '_blank' : undefined;
    if (link.type !== 'dashboards') {
      return (
        <LinkButton key={i} variant="secondary" size="sm" fill="outline" icon="external-link-alt" href={textUtil.sanitizeUrl(urlHref(link, templates))} target={target} tooltip={link.tooltip || undefined}>
          {templates.replace(link.title, {}, 'text')}
        </LinkButton>
      );
    }
    const linked = linkedBoards(link, boards, board.uid).map((other) => ({ ...other, href: boardHref(other.uid, link, templates) }));
    if (link.asDropdown) {
      const menu = <Menu>{linked.map((other) => <Menu.Item key={other.uid} label={other.title} url={other.href} target={target} />)}</Menu>;
      return <Dropdown key={i} overlay={menu}><ToolbarButton icon="bars" isOpen={false} variant="canvas">{link.title || 'Dashboards'}</ToolbarButton></Dropdown>;
    }
    return linked.map((other) => (
      <LinkButton key={`${i}-${other.uid}`} variant="secondary" size="sm" fill="outline" icon="apps" href={other.href} target={target} data-link={other.uid}>{other.title}</LinkButton>
    ));
  });
}
