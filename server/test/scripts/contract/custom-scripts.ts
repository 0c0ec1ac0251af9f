/** Contract cases: scripts of custom steps, and the errors that scripts and expressions give. */
import { describe, expect, it } from 'vitest';
import type { RuntimeUnderTest } from './runtime-under-test.js';

export function describeCustomScripts(test: RuntimeUnderTest): void {
  const { valueOf, run } = test;

  describe('a script error', () => {
    it('contains type, message, line and the frames of user code', async () => {
      const result = await test.runtime.runScript(
        'def total(rows):\n    return sum(r.price / r.count for r in rows)\n\nx = total(rows)',
        { rows: [{ price: 1, count: 0 }] },
      );
      expect(result).toMatchObject({
        ok: false,
        error: { type: 'ZeroDivisionError', message: 'division by zero', line: 2 },
      });
      const traceback = result.ok ? '' : result.error.traceback;
      expect(traceback).toContain('File "<script>", line 4, in <module>');
      expect(traceback).toContain('    x = total(rows)');
      expect(traceback).toMatch(/ZeroDivisionError: division by zero$/);
      expect(traceback).not.toContain('runner');
    });

    it('limits the traceback to 4 kB', async () => {
      const result = await test.runtime.runScript(
        'def f(n):\n    return f(n + 1) if n < 900 else 1 / 0 + len("' +
          'x'.repeat(500) +
          '")\nf(0)',
        {},
      );
      const traceback = result.ok ? '' : (result.error.traceback ?? '');
      expect(traceback).toMatch(/ZeroDivisionError/);
      expect(Buffer.byteLength(traceback)).toBeLessThanOrEqual(4096);
    });

    it('names an exception type that the script defines', async () => {
      const result = await test.runtime.runScript(
        'class OutOfStock(Exception):\n    pass\nraise OutOfStock("none left")',
        {},
      );
      expect(result).toMatchObject({
        ok: false,
        error: { type: 'OutOfStock', message: 'none left', line: 3 },
      });
    });

    it('keeps the output from before the failure', async () => {
      const result = await test.runtime.runScript('print("before")\n1 / 0', {});
      expect(result).toMatchObject({ ok: false, output: 'before\n' });
    });
  });

  describe('a script', () => {
    it('gets inputs as variables and returns all remaining variables', async () => {
      const result = await run('c = a + b.x\nb.y = 1\nd = {"k": {1}}\n_private = 1\ndel a', {
        a: 1,
        b: { x: 2 },
      });
      expect(result.variables).toEqual({ b: { x: 2, y: 1 }, c: 3, d: { k: [1] } });
    });

    it('does not return modules, functions and classes', async () => {
      const result = await run(
        [
          'from __future__ import annotations',
          'import math, re, functools, operator',
          'from typing import Any, Optional, TypeVar',
          'from datetime import datetime',
          'def f(): pass',
          'class C: \n  def m(self): pass',
          '@functools.lru_cache\ndef cached(): pass',
          'half = functools.partial(f)',
          'first = operator.itemgetter(0)',
          'method = C().m',
          'upper = "a".upper',
          'Names = list[str] | None',
          'Row = list[str]',
          'T = TypeVar("T")',
          '_pattern = re.compile("a")',
          'ok = 1',
        ].join('\n'),
      );
      expect(result.variables).toEqual({ ok: 1 });
    });

    it.each([
      ['m = re.match("a", "a")', 'm', /type Match/],
      ['raw = b"x"', 'raw', /base64/],
      ['n = float("nan")', 'n', /nan/],
      ['objects = {object()}', 'objects', /type object/],
      ['it = iter([1])', 'it', /list\(\)/],
      ['class C: pass\nc = C()', 'c', /type C/],
    ])('names a variable that cannot be stored: %s', async (source, variable, reason) => {
      const result = await test.runtime.runScript(`import re\nok = 1\n${source}`, {});
      if (result.ok) throw new Error(JSON.stringify(result.variables));
      expect(result.error.message).toMatch(reason);
      expect(result.error.message).toContain(`the variable '${variable}' cannot be stored`);
      expect(result.error.message).toContain('underscore');
    });

    it('prefers dict methods to fields, and library code works on objects with any keys', async () => {
      const { variables } = await run(
        [
          'import json, copy, csv, io, pprint',
          'from collections import OrderedDict',
          'from urllib.parse import urlencode',
          'methods = [callable(x.items), callable(x.keys), x.get("items"), sorted(x.keys())]',
          'fields = [x["items"], x["keys"], x.other]',
          'dumped = json.dumps(x)',
          'pretty = pprint.pformat(x)',
          'query = urlencode(x)',
          '_out = io.StringIO()',
          '_writer = csv.DictWriter(_out, x.keys())',
          '_writer.writeheader()\n_writer.writerow(x)',
          'table = _out.getvalue()',
          'copies = [OrderedDict(x), copy.deepcopy(x), copy.copy(x), dict(x), {**x}, x | {}]',
          'same = all(c == x for c in copies)',
          'del copies',
        ].join('\n'),
        { x: { items: 1, keys: 2, values: 3, get: 4, other: 5 } },
      );
      expect(variables).toMatchObject({
        methods: [true, true, 1, ['get', 'items', 'keys', 'other', 'values']],
        fields: [1, 2, 5],
        dumped: '{"items": 1, "keys": 2, "values": 3, "get": 4, "other": 5}',
        pretty: "{'get': 4, 'items': 1, 'keys': 2, 'other': 5, 'values': 3}",
        query: 'items=1&keys=2&values=3&get=4&other=5',
        table: 'items,keys,values,get,other\r\n1,2,3,4,5\r\n',
        same: true,
      });
    });

    it.each([
      ['import requests', /'requests' cannot be imported: use an HttpRequest step/],
      ['from urllib import request', /'urllib.request' cannot be imported: use an HttpRequest/],
      ['import urllib.request', /'urllib.request' cannot be imported: use an HttpRequest/],
      ['import os', /'os' cannot be imported: .*input/],
      ['import jsn', /'jsn' cannot be imported: did you mean 'json'\?/],
      [
        'import pandas',
        /'pandas' cannot be imported\nThese modules can be imported: abc array .* zlib$/,
      ],
      [
        'from zoneinfo import ZoneInfo',
        /'zoneinfo' cannot be imported: there are no named time zones; use an offset/,
      ],
      ['from . import x', /relative/],
    ])('gets a suggestion for %s', async (source, message) => {
      const result = await test.runtime.runScript(source, {});
      if (result.ok) throw new Error('the import succeeded');
      expect(result.error).toMatchObject({ type: 'ImportError', line: 1 });
      expect(result.error.message).toMatch(message);
    });

    it.each([
      ['raise NonRetryableError("no such order")', 'no such order'],
      ['class Gone(NonRetryableError): pass\nraise Gone("no such order")', 'Gone: no such order'],
    ])('raises NonRetryableError: %s', async (source, message) => {
      const result = await test.runtime.runScript(source, {});
      expect(result).toMatchObject({ ok: false, error: { type: 'NonRetryableError', message } });
    });

    it('imports from the standard library, including datetime', async () => {
      const { variables } = await run(
        'import datetime\nfrom collections import Counter\nimport urllib.parse as u\n' +
          'd = datetime.date(2024, 1, 1)\nc = Counter("aab")\nq = u.quote("a b")',
      );
      expect(variables).toMatchObject({ d: '2024-01-01', c: { a: 2, b: 1 }, q: 'a%20b' });
    });

    it.each([
      'os',
      'sys',
      'socket',
      'subprocess',
      'js',
      'ctypes',
      'pathlib',
      'importlib',
      'nonsense',
    ])('fails to import %s', async (module) => {
      const result = await test.runtime.runScript(`import ${module}`, {});
      expect(result).toMatchObject({ ok: false, error: { type: 'ImportError', line: 1 } });
    });

    it('has its output captured', async () => {
      const result = await run('print("a", 1, sep="-")\nprint("é😀", end="")');
      expect(result.output).toBe('a-1\né😀');
    });

    it('runs as the main module', async () => {
      expect((await run('x = 0\nif __name__ == "__main__":\n    x = 1')).variables).toEqual({
        x: 1,
      });
    });

    it('accepts inputs with any name', async () => {
      const inputs = { 'not a name': 1, __builtins__: 'x', class: 2, len: 3 };
      expect((await run('y = sorted([2, 1])', inputs)).variables).toEqual({
        'not a name': 1,
        class: 2,
        len: 3,
        y: [1, 2],
      });
    });

    it('fails when it exits with SystemExit, and ends nothing else', async () => {
      const result = await test.runtime.runScript('raise SystemExit(3)', {});
      expect(result).toMatchObject({ ok: false, error: { type: 'SystemExit' } });
    });

    it('is canceled when the caller aborts', async () => {
      const abort = new AbortController();
      const running = test.runtime.runScript('while True: pass', {}, { signal: abort.signal });
      abort.abort();
      expect(await running).toMatchObject({ ok: false, error: { type: 'Aborted' } });
      const before = await test.runtime.runScript('x = 1', {}, { signal: abort.signal });
      expect(before).toMatchObject({ ok: false, error: { type: 'Aborted' } });
      expect(await valueOf('sum([1, 1])')).toBe(2);
    });
  });
}
