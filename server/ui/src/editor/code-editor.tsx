/** The text editor of the page, in a separate chunk: import it with `LazyCodeEditor`. */
import { autocompletion, closeBrackets, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, indentOnInput, indentUnit } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  hoverTooltip,
  keymap,
  lineNumbers,
  type HoverTooltipSource,
} from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import type { EditorProblem } from './editor-problem.js';
import { EDITOR_THEME } from './editor-theme.js';

export type EditorLanguage = 'yaml' | 'json' | 'python';

export interface CodeEditorProps {
  /** The accessible name of the editor. */
  readonly label: string;
  /** The initial text. A new value replaces the text in the editor. */
  readonly value: string;
  readonly language: EditorLanguage;
  /** Without it, the editor is read-only. */
  readonly onChange?: (text: string) => void;
  readonly problems?: readonly EditorProblem[];
  readonly completions?: CompletionSource;
  readonly hover?: HoverTooltipSource;
  /** An earlier text; additions and removals since then are marked. */
  readonly original?: string;
}

export default function CodeEditor(props: CodeEditorProps): ReactNode {
  const { value, problems } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useEditorView(host, props);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [view, value]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || problems === undefined) return;
    editor.dispatch(setDiagnostics(editor.state, problems.map(diagnosticIn(editor.state))));
  }, [view, problems]);
  return <div className="code-editor" ref={host} />;
}

function useEditorView(
  host: React.RefObject<HTMLDivElement | null>,
  props: CodeEditorProps,
): React.RefObject<EditorView | null> {
  const view = useRef<EditorView | null>(null);
  const newest = useRef(props);
  useEffect(() => {
    newest.current = props;
  });
  const { language, original, label, onChange } = props;
  const isReadOnly = onChange === undefined;
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    // In a shadow root, the editor adopts style sheets. Elsewhere, it would add style elements, which the page's policy
    // forbids.
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      doc: newest.current.value,
      extensions: [
        extensionsOf({ language: newest.current.language, label, isReadOnly, original }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) newest.current.onChange?.(state.doc.toString());
        }),
        autocompletion({
          override: [(context) => newest.current.completions?.(context) ?? null],
        }),
        hoverTooltip((...args) => newest.current.hover?.(...args) ?? null),
      ],
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [host, original, label, isReadOnly]);
  // Changes the language in the same view, so that the user can continue to type.
  useEffect(() => {
    view.current?.dispatch({ effects: LANGUAGE.reconfigure(languageOf(language)) });
  }, [language]);
  return view;
}

const LANGUAGES: Readonly<Record<EditorLanguage, () => Extension>> = {
  yaml,
  json,
  python,
};

const LANGUAGE = new Compartment();

function languageOf(language: EditorLanguage): Extension {
  return [LANGUAGES[language](), indentUnit.of(language === 'python' ? '    ' : '  ')];
}

export function extensionsOf({
  language,
  label,
  isReadOnly,
  original,
}: {
  readonly language: EditorLanguage;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly original: string | undefined;
}): Extension[] {
  return [
    EDITOR_THEME,
    LANGUAGE.of(languageOf(language)),
    lineNumbers(),
    foldGutter(),
    drawSelection(),
    bracketMatching(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorState.readOnly.of(isReadOnly),
    // Without a binding, Tab leaves the editor, so that keyboard users are not trapped.
    keymap.of([...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap]),
    isReadOnly ? [] : [history(), closeBrackets(), indentOnInput(), lintGutter()],
    original === undefined
      ? []
      : unifiedMergeView({
          original,
          mergeControls: false,
          gutter: true,
          collapseUnchanged: { margin: 3, minSize: 8 },
        }),
  ];
}

/** Clips the range to the text, which may have changed since it was checked. */
function diagnosticIn({ doc }: EditorState): (problem: EditorProblem) => Diagnostic {
  return ({ from, to, message, isWarning }) => {
    const start = Math.min(Math.max(0, from), doc.length);
    return {
      from: start,
      to: Math.min(Math.max(start, to), doc.length),
      severity: isWarning ? 'warning' : 'error',
      message,
    };
  };
}
