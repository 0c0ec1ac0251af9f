import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/content.css';
import './styles/runs.css';
import './styles/run.css';
import './styles/timeline.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { joinSession } from './app/session.js';
import { applyTheme, readTheme } from './app/theme.js';
import { guardUnsavedEdits } from './components/unsaved-warning.js';

applyTheme(readTheme());
guardUnsavedEdits();

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element for the page');
await joinSession();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
