/** The values of a form: where it starts, what a field can show, and where it shows a problem. Pure. */
import {
  Draft,
  isList,
  isMembers,
  isSameData,
  memberOf,
  NumberText,
  pointerTo,
  type DataMembers,
  type DataValue,
  type Problem,
} from './data-value.js';
import type { Field, ObjectField } from './form-fields.js';

/** The members that an object has at first: those with a default, and the required ones that have only one possible value. */
export function initialMembers({ members }: ObjectField): DataMembers {
  const entries = members.flatMap(({ name, field, isRequired }) => {
    const value = initialValue(field, isRequired);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function initialValue(field: Field, isRequired: boolean): DataValue | undefined {
  const { defaultValue } = field;
  if (defaultValue !== undefined) {
    return field.kind === 'object' && isMembers(defaultValue)
      ? { ...initialMembers(field), ...defaultValue }
      : defaultValue;
  }
  if (!isRequired) return undefined;
  if (field.kind === 'object') return initialMembers(field);
  if (field.kind === 'list') return [];
  return field.kind === 'choice' && field.choices.length === 1 && !field.isNullable
    ? field.choices[0]?.value
    : undefined;
}

/** The value of a new element of a list, or of a field that must not be empty. A member can be missing, an element cannot. */
export function newValue(field: Field): DataValue {
  const value = initialValue(field, true);
  if (value !== undefined) return value;
  if (field.kind === 'text' && field.format !== 'date' && field.format !== 'date-time') return '';
  return new Draft('', field.kind === 'choice' ? 'Choose a value.' : 'Enter a value.');
}

/** Whether the field can show the value. It cannot show a value of another type, which only JSON can be. */
export function canShow(field: Field, value: DataValue | undefined): boolean {
  if (value === undefined || (value === null && field.isNullable)) return true;
  switch (field.kind) {
    case 'json':
      return true;
    case 'text':
      return typeof value === 'string' || isEmptyDraft(value);
    case 'number':
      return value instanceof NumberText || value instanceof Draft;
    case 'choice':
      return isEmptyDraft(value) || field.choices.some((choice) => isSameData(choice.value, value));
    case 'list':
      return isList(value);
    case 'object':
      return isMembers(value);
  }
}

function isEmptyDraft(value: DataValue): boolean {
  return value instanceof Draft && value.text === '';
}

/** The members that the schema does not name. */
export function othersOf({ members }: ObjectField, value: DataMembers): DataMembers {
  const names = new Set(members.map(({ name }) => name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

/** The messages for each field: that of the problem, or the innermost one around it that the form shows. */
export function placeMessages(
  form: ObjectField,
  value: DataMembers,
  problems: readonly Problem[],
): ReadonlyMap<string, readonly string[]> {
  const places = new Set(placesIn(form, value, ''));
  const found = new Map<string, readonly string[]>();
  for (const { pointer, message } of problems) {
    let place = pointer;
    while (place !== '' && !places.has(place)) place = place.slice(0, place.lastIndexOf('/'));
    const text = place === pointer ? message : `${pointer}: ${message}`;
    found.set(place, [...(found.get(place) ?? []), text]);
  }
  return found;
}

function placesIn(field: Field, value: DataValue | undefined, pointer: string): string[] {
  if (field.kind === 'list' && isList(value)) {
    const items = value.flatMap((item, at) => placesIn(field.item, item, `${pointer}/${at}`));
    return [pointer, ...items];
  }
  if (field.kind !== 'object' || !isMembers(value)) return [pointer];
  const members = field.members.flatMap((member) =>
    placesIn(member.field, memberOf(value, member.name), pointerTo(pointer, member.name)),
  );
  return [pointer, ...members];
}
