/** Goal: imports that the sandbox denies are found with their position, and no others. */
import { describe, expect, it } from 'vitest';
import { findForbiddenImports } from '../../../src/scripts/expressions/find-imports.js';

const found = async (script: string): Promise<string[]> =>
  (await findForbiddenImports(script)).map(
    ({ column, line, module }) => `${module} ${line}:${column}`,
  );

describe('findImports', () => {
  it.each([
    ['import os', ['os 1:8']],
    ['x = 1\nimport json, requests as r, os.path\n', ['requests 2:14', 'os.path 2:29']],
    ['from pathlib import Path', ['pathlib 1:6']],
    ['def f():\r\n    import yaml\r\n', ['yaml 2:12']],
    ['import json; import sys', ['sys 1:21']],
    ['from urllib import parse, request', ['urllib.request 1:27']],
    [
      'from xml.etree import (ElementTree, # fine\n  cElementTree as c)',
      ['xml.etree.cElementTree 2:3'],
    ],
    ['from . import helpers', ['. 1:6']],
    ['from ..shop.prices import price', ['..shop.prices 1:6']],
    ['try:\n  x = 1\nexcept ImportError:\n  import numpy\n', ['numpy 4:10']],
    ['try:\n  import numpy\nfinally:\n  x = 1\n', ['numpy 2:10']],
  ])('reports imports that will fail: %j', async (script, imports) => {
    expect(await found(script)).toEqual(imports);
  });

  it.each([
    'import json, re as r, xml.etree.ElementTree as tree',
    'from collections import abc, OrderedDict',
    'from urllib.parse import quote, urlencode',
    'from urllib import *',
    'from email import message_from_string',
    'try:\n  import numpy\nexcept ImportError:\n  numpy = None\n',
    'import _thread',
    'text = "import os"  # import sys',
    'import os (',
    '',
  ])('accepts valid imports: %j', async (script) => {
    expect(await found(script)).toEqual([]);
  });

  it('reports up to a hundred imports', async () => {
    const script = Array.from({ length: 150 }, (_, n) => `import m${n}`).join('\n');
    expect(await found(script)).toHaveLength(100);
  });

  it('reads the end of a long script without blocking the event loop', async () => {
    const script = 'x = data["a"] + 1\n'.repeat(2_000) + 'import os\n';
    let others = 0;
    const count = (): void => {
      others += 1;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    expect(await found(script)).toEqual(['os 2001:8']);
    clearImmediate(turn);
    expect(others).toBeGreaterThan(0);
  });
});
