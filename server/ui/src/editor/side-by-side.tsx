/** Two texts beside each other, lines that belong together at the same height. A chunk of its own, as the editor is. */
import { MergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { extensionsOf, type EditorLanguage } from './code-editor.js';

export interface SideBySideProps {
  readonly language: EditorLanguage;
  readonly before: { readonly label: string; readonly text: string };
  readonly after: { readonly label: string; readonly text: string };
}

/** Marks stand in the gutter, in the line and, where there is more than one sign of a change, below the letters. */
export default function SideBySide({ language, before, after }: SideBySideProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    // For the same reason as the editor: styles made by script are allowed within a shadow root only.
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const sideOf = ({ label, text }: SideBySideProps['before'], isBefore: boolean) => ({
      doc: text,
      extensions: [
        extensionsOf({ language, label, isReadOnly: true, original: undefined }),
        isBefore ? BEFORE_THEME : [],
      ],
    });
    const view = new MergeView({
      root,
      parent: root,
      gutter: true,
      a: sideOf(before, true),
      b: sideOf(after, false),
      collapseUnchanged: { margin: 3, minSize: 8 },
    });
    return () => view.destroy();
  }, [language, before, after]);
  return <div className="code-editor" ref={host} />;
}

/** What went away is red, as in the other view. The class makes it stronger than the theme of both sides. */
const BEFORE_THEME = EditorView.theme({
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-soft) !important' },
  '&.cm-merge-a .cm-changedText': { borderBottom: '2px solid var(--bad)', background: 'none' },
});
