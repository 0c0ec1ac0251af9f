/** The colors of the editor. They use the variables of the page, so they follow its theme. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--waiting)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--bad)' },
  { tag: [tags.comment], color: 'var(--text-quiet)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.className], color: 'var(--running)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--text-quiet)',
    backgroundColor: 'var(--ground)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { backgroundColor: 'var(--accent-soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '.cm-tooltip': {
    maxWidth: '420px',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    color: 'var(--text)',
    backgroundColor: 'var(--raised)',
    fontFamily: 'var(--sans)',
  },
  '.cm-tooltip-hover': { padding: '4px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: '#fff',
    backgroundColor: 'var(--accent-fill)',
  },
  '.cm-completionInfo': { padding: '4px 8px' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--ground)' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)' },
  '.cm-changedLine': { backgroundColor: 'var(--good-soft) !important' },
  // An underline instead of a strong background, which would make the text hard to read.
  '.cm-changedText': {
    background: 'none !important',
    borderBottom: '2px solid var(--good)',
  },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important' },
  '.cm-deletedChunk .cm-deletedText, .cm-deletedText': {
    background: 'none !important',
    borderBottom: '2px solid var(--bad)',
  },
  // Few fonts contain the default characters.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"···"' },
  '.cm-collapsedLines': {
    color: 'var(--text-quiet)',
    background: 'var(--idle-soft)',
  },
});

export const EDITOR_THEME: Extension = [THEME, syntaxHighlighting(HIGHLIGHT)];
