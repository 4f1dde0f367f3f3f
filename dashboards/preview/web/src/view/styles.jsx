// Styles of the page's own parts; everything else brings its own.
import { Global, css } from '@emotion/react';
import { useTheme2 } from '@grafana/ui';
import { NARROW } from '../model/layout.js';

export function PageStyles() {
  const { colors, spacing, typography, shape } = useTheme2();
  return (
    <Global styles={css`
      html { scrollbar-gutter: stable; }
      body { background: ${colors.background.canvas}; }
      main { padding: ${spacing(0, 2, 2)}; outline: none; }
      .skip-link { position: absolute; left: -9999px; z-index: 2000; padding: ${spacing(1)}; background: ${colors.background.primary}; }
      .skip-link:focus { left: ${spacing(1)}; top: ${spacing(1)}; }
      .navigation { display: flex; flex-wrap: wrap; align-items: center; gap: ${spacing(1)}; padding: ${spacing(0.75, 2)}; background: ${colors.background.primary}; border-bottom: 1px solid ${colors.border.weak}; }
      .navigation nav { display: flex; flex: 1; gap: ${spacing(0.5)}; overflow-x: auto; }
      .navigation nav a { white-space: nowrap; padding: ${spacing(0.5, 1)}; color: ${colors.text.secondary}; border-radius: ${shape.radius.default}; }
      .navigation nav a:hover { color: ${colors.text.primary}; background: ${colors.action.hover}; }
      .navigation nav a[aria-current] { color: ${colors.text.primary}; background: ${colors.action.selected}; }
      .brand { font-weight: ${typography.fontWeightMedium}; white-space: nowrap; }
      .preview-mark { font-size: ${typography.bodySmall.fontSize}; color: ${colors.text.secondary}; border: 1px solid ${colors.border.medium}; border-radius: ${shape.radius.pill}; padding: 0 ${spacing(0.75)}; margin-left: ${spacing(0.75)}; }
      .alert-bar { padding: ${spacing(0.75, 2)}; border-bottom: 1px solid ${colors.border.weak}; font-size: ${typography.bodySmall.fontSize}; }
      .alert-bar[data-firing="true"] { background: ${colors.error.transparent}; }
      .alert-bar[data-failed="true"] { background: ${colors.warning.transparent}; }
      .alert-bar ul { list-style: none; display: flex; flex-wrap: wrap; gap: ${spacing(0.5, 3)}; }
      .alert-bar li { display: flex; flex-wrap: wrap; align-items: center; gap: ${spacing(0, 1)}; }
      .alert-bar a { text-decoration: underline; }
      .alert-name { font-weight: ${typography.fontWeightMedium}; color: ${colors.error.text}; }
      .alert-detail { color: ${colors.text.secondary}; }
      .toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: ${spacing(1)}; padding: ${spacing(1.5, 0)}; }
      .toolbar h1 { font-size: ${typography.h4.fontSize}; margin: 0; flex: 1 1 240px; }
      .controls { display: flex; flex-wrap: wrap; align-items: center; gap: ${spacing(1)}; padding-bottom: ${spacing(1.5)}; }
      .variable { display: flex; align-items: stretch; max-width: 100%; }
      .variable label { display: flex; align-items: center; padding: ${spacing(0, 1)}; font-size: ${typography.bodySmall.fontSize}; font-weight: ${typography.fontWeightMedium}; background: ${colors.background.secondary}; border: 1px solid ${colors.border.weak}; border-right: none; border-radius: ${shape.radius.default} 0 0 ${shape.radius.default}; white-space: nowrap; }
      .variable > div { min-width: 120px; }
      .variable-error { color: ${colors.error.text}; font-size: ${typography.bodySmall.fontSize}; align-self: center; padding-left: ${spacing(1)}; }
      .row-title { display: flex; align-items: center; gap: ${spacing(1)}; width: 100%; height: 100%; border: none; background: none; text-align: left; font-size: ${typography.h5.fontSize}; font-weight: ${typography.fontWeightMedium}; color: ${colors.text.primary}; }
      .row-title small { color: ${colors.text.secondary}; font-weight: normal; }
      .board-list { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: ${spacing(2)}; }
      .board-list a { display: block; height: 100%; padding: ${spacing(2)}; background: ${colors.background.primary}; border: 1px solid ${colors.border.weak}; border-radius: ${shape.radius.default}; }
      .board-list a:hover { border-color: ${colors.border.strong}; }
      .board-list p { color: ${colors.text.secondary}; margin: ${spacing(0.5, 0, 0)}; }
      .query { margin-bottom: ${spacing(2)}; }
      .query pre { white-space: pre-wrap; word-break: break-word; }
      .query table { width: 100%; } .query th, .query td { text-align: left; padding: ${spacing(0.25, 1)}; vertical-align: top; word-break: break-word; }
      a:focus-visible, button:focus-visible, section[tabindex]:focus-visible { outline: 2px solid ${colors.primary.main}; outline-offset: 1px; }
      @media (max-width: ${NARROW}px) {
        main { padding: ${spacing(0, 1, 1)}; }
        .navigation, .alert-bar { padding-left: ${spacing(1)}; padding-right: ${spacing(1)}; }
        .navigation nav { order: 2; flex-basis: 100%; }
        .navigation .brand { flex: 1; }
        .toolbar h1 { flex-basis: 100%; }
        .variable { flex: 1 1 100%; } .variable[data-variable] > div { flex: 1; } .variable[data-variable] label { min-width: 96px; }
      }
    `} />
  );
}
