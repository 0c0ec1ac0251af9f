/** The views of the run list that the user has saved in this browser. */
import { COLUMNS_MAX } from './column-choice.js';
import { filterText, NO_FILTER, readFilter } from './run-filter.js';

export const VIEWS_MAX = 50;
export const VIEW_NAME_MAX = 100;
const KEY = 'stepwright.views';
const SEARCH_MAX = 4000;

export interface SavedView {
  readonly name: string;
  /** The filter, as in the URL. */
  readonly search: string;
  readonly columns: readonly string[];
}

/** Ignores invalid views: another program may have written them. */
export function readViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    const list: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return list.flatMap(viewIn).slice(0, VIEWS_MAX);
  } catch {
    return []; // The browser may forbid storage.
  }
}

/** @returns false if the browser does not store it */
export function writeViews(views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(KEY, JSON.stringify(views.slice(0, VIEWS_MAX)));
    return true;
  } catch {
    return false;
  }
}

/** The views with this one, which replaces another of the same name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name));
}

function viewIn(value: unknown): SavedView[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, search, columns } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || name === '' || name.length > VIEW_NAME_MAX) return [];
  if (typeof search !== 'string' || search.length > SEARCH_MAX || !Array.isArray(columns))
    return [];
  const names = columns.filter((column) => typeof column === 'string').slice(0, COLUMNS_MAX);
  return [{ name, search: filterText({ ...NO_FILTER, ...readFilter(search) }), columns: names }];
}
