/** Goal: the search box reads conditions as the API does, explains what it cannot read, and suggests how to continue. */
import { describe, expect, test } from 'vitest';
import { conditionText, equals, fulfills } from '../../src/pages/runs/conditions.js';
import {
  conditionsIn,
  misplacedIn,
  readCondition,
  readSearch,
  searchText,
} from '../../src/pages/runs/search-text.js';
import { knownFields, suggest } from '../../src/pages/runs/suggestions.js';

const texts = (text: string): string[] => conditionsIn(text).map(conditionText);

describe('the search box text', () => {
  test.each([
    ['total>=100 tag.env=prod', ['total>=100', 'tag.env=prod']],
    ['a=1 a!=1 a<1 a<=1 a>1 a>=1 a^=1', ['a=1', 'a!=1', 'a<1', 'a<=1', 'a>1', 'a>=1', 'a^=1']],
    ['total >= 100', ['total>=100']],
    ['name="Ada Lovelace"', ['name="Ada Lovelace"']],
    ['name="a\\"b\\\\c" x=1', ['name="a\\"b\\\\c"', 'x=1']],
    ['"tag.cost center"=5', ['tag.cost center=5']],
    ['total=""', ['total=""']],
    ['url=https://x.example/?a=b', ['url=https://x.example/?a=b']],
    ['a="=1"', ['a="=1"']],
    ['über=ä', ['über=ä']],
    ['order-4711', []],
    ['', []],
  ])('reads the conditions of %s', (text, conditions) => {
    expect(texts(text)).toEqual(conditions);
  });

  test.each([
    ['total>=', 0, 7, 'total>= has no value. Write total>="" for the empty text.'],
    ['a=1 =5', 4, 6, 'The name of a tag or an index field is missing before =5.'],
    ['tag.=x', 0, 6, 'The name of the tag is missing before =x.'],
    ['a=1 name="Ada', 4, 13, 'A double quote is not closed.'],
    ['a="b"c d=1', 0, 6, 'Text follows a closing double quote. Separate it with a space.'],
    [
      'a=1 total=>700',
      4,
      14,
      "=> isn't an operator. Did you mean >=? Write a value that begins with > in double quotes.",
    ],
    [
      'total => 700',
      0,
      8,
      "=> isn't an operator. Did you mean >=? Write a value that begins with > in double quotes.",
    ],
    [
      'a==1',
      0,
      4,
      "== isn't an operator. Did you mean =? Write a value that begins with = in double quotes.",
    ],
    ['a^=>1', 0, 5, "^=> isn't an operator. Write a value that begins with > in double quotes."],
    ['"a=b"=1', 0, 7, 'The name a=b contains an operator, so it cannot be searched.'],
  ])('says where and why it cannot read %s', (text, from, to, message) => {
    const part = readSearch(text).find(({ kind }) => kind === 'malformed');
    expect(part).toEqual({ kind: 'malformed', from, to, message });
    expect(misplacedIn(text)).toEqual(part);
  });

  test('tells words from conditions', () => {
    expect(readSearch(' order-4711 tag.env=prod')).toMatchObject([
      { kind: 'word', text: 'order-4711', from: 1, to: 11 },
      { kind: 'condition', condition: { name: 'tag.env', value: 'prod' } },
    ]);
    expect(misplacedIn('order-4711')?.message).toBe('"order-4711" has no operator, such as =.');
  });

  test.each(['a=1', 'a="1"', 'a=""', 'a="x y"', 'tag.b c>=2', 'a^="\\""', 'tag."q"=1', 'a=">1"'])(
    'is made from the API condition %s, and converts back to it',
    (api) => {
      const condition = readCondition(api)!;
      const [again, ...rest] = conditionsIn(searchText([condition]));
      expect(rest).toEqual([]);
      expect(conditionText(again!)).toBe(api);
    },
  );

  test.each(['', '=1', 'a', 'a=', 'a="', 'a="b"c', 'a=>1'])(
    'knows that %j is no condition',
    (text) => {
      expect(readCondition(text)).toBeNull();
    },
  );
});

describe('a run that changes', () => {
  const run = {
    tags: { env: 'prod', 'cost center': '7' },
    index: { total: 100, big: 12345678901234567890n, city: 'Zürich', open: true, skus: ['tea', 5] },
  };

  test.each([
    ['tag.env=prod', true],
    ['tag.env=Prod', false],
    ['tag.env!=test', true],
    ['tag.gone!=test', false],
    ['tag.cost center=7', true],
    ['tag.cost center>6', true],
    ['tag.cost center>"6"', true],
    ['total=100', true],
    ['total=100.0', true],
    ['total=1e2', true],
    ['total="100"', false],
    ['total>=100', true],
    ['total>100', false],
    ['total<9', false],
    ['total^=1', false],
    ['big=12345678901234567890', true],
    ['big>12345678901234567889', true],
    ['city^=Zü', true],
    ['city>Z', true],
    ['city<z', true],
    ['open=true', true],
    ['open="true"', false],
    ['open!=false', true],
    ['skus=tea', true],
    ['skus=5', true],
    ['skus!=tea', false],
    ['skus>=5', true],
    ['constructor=x', false],
    ['tag.constructor!=x', false],
  ])('is compared with %s as on the server', (text, expected) => {
    expect(fulfills(run as never, readCondition(text)!)).toBe(expected);
  });

  test('is ordered by code point, as on the server', () => {
    const emoji = { tags: { a: '\u{1F600}' }, index: {} };
    expect(fulfills(emoji as never, readCondition('tag.a>\uFFFD')!)).toBe(true);
  });

  test.each([['x'], ['1'], ['true'], [''], ['"q"'], ['a b'], ['>7'], ['=7'], [7], [true], [10n]])(
    'is found by its value %s',
    (value) => {
      const one = { tags: {}, index: { v: value } };
      const [condition] = conditionsIn(searchText([equals('v', value)]));
      expect(fulfills(one as never, condition!)).toBe(true);
    },
  );
});

describe('the suggestion list', () => {
  const fields = knownFields(
    { index: { total: 'data.total', 'to go': 'data.go' }, tags: { env: 'prod' } },
    [{ tags: { team: 'blue' }, index: { total: 100, city: ['Bern', 'Basel'] } }] as never,
  );
  const labels = (text: string, caret = text.length): string[] =>
    suggest(text, caret, fields).items.map(({ label }) => label);

  test('names the index fields and tags of the definition and of the shown runs', () => {
    expect(labels('')).toEqual(['city', 'tag.env', 'tag.team', 'to go', 'total']);
    expect(labels('TO')).toEqual(['to go', 'total']);
    expect(labels('env')).toEqual(['tag.env']);
  });

  test('continues with operators, then with values', () => {
    expect(labels('total')).toContain('total>=');
    expect(labels('a=1 tag.env=')).toEqual(['tag.env=prod']);
    expect(labels('city^=b')).toEqual(['city^=Bern', 'city^=Basel']);
  });

  test('replaces only the part at the caret', () => {
    const { from, to, items } = suggest('ci total=1', 2, fields);
    expect([from, to]).toEqual([0, 2]);
    expect(items[0]).toMatchObject({ label: 'city', insert: 'city' });
    expect(suggest('a="b c" to', 10, fields)).toMatchObject({ from: 8, to: 10 });
    expect(suggest('to', 2, fields).items[0]?.insert).toBe('"to go"');
  });
});
