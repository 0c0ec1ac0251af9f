/** The changes between two texts: side by side, or as one text on narrow screens. */
import { lazy, Suspense, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { Loading } from '../components/loading.js';
import type { EditorLanguage } from './code-editor.js';
import { LazyCodeEditor } from './lazy-code-editor.js';

const SideBySide = lazy(() => import('./side-by-side.js'));

interface TextChangesProps {
  readonly label: string;
  readonly language: EditorLanguage;
  readonly before: string;
  readonly after: string;
}

/** Fits two columns of seventy characters next to the navigation. */
const WIDE = window.matchMedia('(min-width: 1200px)');

export function TextChanges({ label, language, before, after }: TextChangesProps): ReactNode {
  const isWide = useSyncExternalStore(subscribe, () => WIDE.matches);
  const sides = useMemo(
    () => ({
      before: { label: `${label}: before`, text: before },
      after: { label: `${label}: after`, text: after },
    }),
    [label, before, after],
  );
  if (!isWide) return <LazyCodeEditor {...{ label, language, value: after, original: before }} />;
  return (
    <Suspense fallback={<Loading />}>
      <SideBySide language={language} {...sides} />
    </Suspense>
  );
}

function subscribe(listener: () => void): () => void {
  WIDE.addEventListener('change', listener);
  return () => WIDE.removeEventListener('change', listener);
}
