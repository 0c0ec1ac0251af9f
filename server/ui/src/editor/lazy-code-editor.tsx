import { lazy, Suspense, type ReactNode } from 'react';
import { Loading } from '../components/loading.js';
import type { CodeEditorProps } from './code-editor.js';
import './editor.css';

const CodeEditor = lazy(() => import('./code-editor.js'));

/** The editor, loaded when it is first shown. */
export function LazyCodeEditor(props: CodeEditorProps): ReactNode {
  return (
    <Suspense fallback={<Loading />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
