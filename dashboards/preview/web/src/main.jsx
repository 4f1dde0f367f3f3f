// Entry: waits for translations, follows links in place, draws the application.
import 'uplot/dist/uPlot.min.css';
import { createRoot } from 'react-dom/client';
import { initPluginTranslations } from '@grafana/i18n';
import { followLinksInPlace } from './model/address.js';
import { App } from './view/app.jsx';

// Where Grafana's components look for icons and fonts.
window.__grafana_public_path__ = '/public/';

await initPluginTranslations('preview');
followLinksInPlace();
createRoot(document.getElementById('root')).render(<App />);
