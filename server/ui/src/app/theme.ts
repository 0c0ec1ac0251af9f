/** The color theme: light, dark or the system's; stored in the browser. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'stepwright.theme';

export function readTheme(): Theme {
  const stored = readStored();
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

/** `tokens.css` derives its colors from `color-scheme`, which the attribute sets. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The browser may forbid storage; then the choice lasts until the page is closed.
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
