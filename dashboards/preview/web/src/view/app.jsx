// The frame around every page: theme, navigation, alerts, the page that the address names.
import { useEffect, useMemo, useState } from 'react';
import { ThemeContext, createTheme } from '@grafana/data';
import { Alert, GlobalStyles, LoadingPlaceholder, PortalContainer } from '@grafana/ui';
import { boardUid, useAddress } from '../model/address.js';
import { About } from './about.jsx';
import { AlertBar } from './alert-bar.jsx';
import { BoardPage } from './board-page.jsx';
import { Home } from './home.jsx';
import { Navigation } from './navigation.jsx';
import { useAlerts, useJson } from './resources.js';
import { PageStyles } from './styles.jsx';

const THEME_KEY = 'preview.theme';

/** The theme that the address asks for, else the one chosen last, else dark as in Grafana. */
function useThemeChoice(search) {
  const [chosen, setChosen] = useState(() => window.localStorage.getItem(THEME_KEY));
  const asked = new URLSearchParams(search).get('theme') ?? chosen;
  const mode = asked === 'light' ? 'light' : 'dark';
  const theme = useMemo(() => createTheme({ colors: { mode } }), [mode]);
  const choose = (next) => {
    window.localStorage.setItem(THEME_KEY, next);
    setChosen(next);
  };
  return [theme, choose];
}

function Page({ path, search, settings, boards, alerts }) {
  const uid = boardUid(path);
  if (uid !== undefined) {
    return <BoardPage key={uid} uid={decodeURIComponent(uid)} search={search} settings={settings} boards={boards} alerts={alerts} />;
  }
  return path === '/' ? <Home boards={boards} /> : <Alert severity="warning" title={`There is no page ${path}`}><a href="/">All dashboards</a></Alert>;
}

export function App() {
  const { path, search } = useAddress();
  const [theme, chooseTheme] = useThemeChoice(search);
  const [aboutOpen, setAboutOpen] = useState(false);
  const settings = useJson('/preview/settings.json');
  const boards = useJson('/preview/boards.json');
  const alerts = useAlerts();
  const failed = settings.error ?? boards.error;
  const kiosk = new URLSearchParams(search).has('kiosk');

  useEffect(() => {
    document.documentElement.style.colorScheme = theme.isDark ? 'dark' : 'light';
  }, [theme]);

  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PageStyles />
      <PortalContainer />
      <a className="skip-link" href="#content">Skip to the dashboard</a>
      {!kiosk && <Navigation boards={boards.data ?? []} path={path} theme={theme} onTheme={chooseTheme} onAbout={() => setAboutOpen(true)} />}
      <AlertBar alerts={alerts} />
      {failed && <Alert severity="error" title="The preview's own server does not answer">{failed}</Alert>}
      {!failed && !(settings.data && boards.data) && <LoadingPlaceholder text="Loading…" />}
      <main id="content" tabIndex={-1}>
        {settings.data && boards.data && <Page path={path} search={search} settings={settings.data} boards={boards.data} alerts={alerts.active} />}
      </main>
      {aboutOpen && <About settings={settings.data} onClose={() => setAboutOpen(false)} />}
    </ThemeContext.Provider>
  );
}
