/** Two texts side by side with aligned lines, in a separate chunk like the editor. */
import { MergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { extensionsOf, type EditorLanguage } from './code-editor.js';

export interface SideBySideProps {
  readonly language: EditorLanguage;
  readonly before: { readonly label: string; readonly text: string };
  readonly after: { readonly label: string; readonly text: string };
}

/** Changes are marked in the gutter, on the line and, within the line, by underlining the changed text. */
export default function SideBySide({ language, before, after }: SideBySideProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    // As in the editor, the page's policy allows styles added by scripts only in a shadow root.
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

/** Removed text is red, as in the unified view. The class takes precedence over the theme of both sides. */
const BEFORE_THEME = EditorView.theme({
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-soft) !important' },
  '&.cm-merge-a .cm-changedText': { borderBottom: '2px solid var(--bad)', background: 'none' },
});
