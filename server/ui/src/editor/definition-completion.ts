/** Completion and explanations for definitions, from the server's JSON Schema. */
import type { Completion, CompletionSource } from '@codemirror/autocomplete';
import type { HoverTooltipSource } from '@codemirror/view';
import { placeIn, stepIdsIn, type TextPlace } from './definition-context.js';
import type { DefinitionHelp, MemberHelp } from './definition-schema.js';

export function definitionCompletion(
  help: DefinitionHelp,
  language: 'yaml' | 'json',
): CompletionSource {
  return ({ state, pos, explicit }) => {
    const text = state.doc.toString();
    const place = placeIn(text, pos);
    if (place.word === '' && !explicit) return null;
    const options =
      place.member === null
        ? memberOptions(help, place, language)
        : valueOptions(help, place, text);
    return options.length === 0 ? null : { from: pos - place.word.length, options };
  };
}

export function definitionHover(help: DefinitionHelp): HoverTooltipSource {
  return ({ state }, pos) => {
    const word = state.wordAt(pos);
    if (word === null) return null;
    const text = state.doc.toString();
    const name = text.slice(word.from, word.to);
    const place = placeIn(text, word.from);
    const explanation =
      place.member?.toLowerCase() === 'steptype'
        ? help.types.get(name.toLowerCase())?.description
        : membersAt(help, place).find((member) => sameName(member.name, name))?.description;
    if (explanation === undefined || explanation === '') return null;
    return {
      pos: word.from,
      end: word.to,
      create: () => {
        const dom = document.createElement('div');
        dom.textContent = `${name}: ${explanation}`;
        return { dom };
      },
    };
  };
}

function memberOptions(
  help: DefinitionHelp,
  place: TextPlace,
  language: 'yaml' | 'json',
): Completion[] {
  return membersAt(help, place).map(({ name, description }) => ({
    label: name,
    info: description,
    type: 'property',
    apply: language === 'yaml' ? `${name}: ` : name,
  }));
}

function valueOptions(help: DefinitionHelp, place: TextPlace, text: string): Completion[] {
  const member = place.member ?? '';
  if (place.surroundings === 'step' && sameName(member, 'NextStepId')) {
    return stepIdsIn(text).map((label) => ({ label, type: 'variable' }));
  }
  const known = membersAt(help, place).find(({ name }) => sameName(name, member));
  return (known?.values ?? []).map((label) => ({
    label,
    type: 'enum',
    info: help.types.get(label.toLowerCase())?.description ?? '',
  }));
}

function membersAt(
  help: DefinitionHelp,
  { surroundings, stepType }: TextPlace,
): readonly MemberHelp[] {
  switch (surroundings) {
    case 'definition':
      return help.definition;
    case 'step':
      return help.step;
    case 'inputs':
      return help.types.get(stepType?.toLowerCase() ?? '')?.inputs ?? [];
    case 'free':
      return [];
  }
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
