// Makes page.html, the one file that is committed and built into the program, of source/ and uPlot: `npm ci && npm run
// bundle`. The scripts and styles that the page may run are named by their hashes in its policy, so nothing else runs.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { buildSync } from 'esbuild';

const text = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const hash = (algorithm, content) => createHash(algorithm).update(content).digest();

function bundled(entry) {
  const result = buildSync({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    write: false,
  });
  return result.outputFiles[0].text.trim();
}

// What the page is made of, so that a test can tell a page that was not made anew.
function fingerprint() {
  const all = createHash('sha256');
  for (const name of readdirSync(new URL('source/', import.meta.url)).sort()) all.update(`${name}\n${text(`source/${name}`)}`);
  return all.digest('hex');
}

const licence = text('node_modules/uplot/LICENSE').trim();
const script = `/* uPlot 1.6.32, in part:\n${licence}\n*/\n${bundled('source/main.js')}`.replaceAll('</script', '<\\/script');
const style = bundled('source/style.css');
const source = (content) => `'sha256-${hash('sha256', content).toString('base64')}'`;
const page = text('source/page.html')
  .replace('{policy}', () => `default-src 'none'; script-src ${source(script)}; style-src ${source(style)}; base-uri 'none'; form-action 'none'`)
  .replace('{fingerprint}', fingerprint)
  .replace('{style}', () => style)
  .replace('{script}', () => script);
if (page.includes(')MUSTER"')) throw new Error('the page would end the string that holds it');
writeFileSync(new URL('page.html', import.meta.url), page);
console.log(`page.html: ${page.length} bytes`);
