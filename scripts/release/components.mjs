// The third-party packages of an artefact, read from the lock file. The SBOM and the licences are written from this list.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../run.mjs';

export const readManifest = (name) =>
  JSON.parse(readFileSync(path.join(root, 'packages', name, 'package.json'), 'utf8'));

const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));

/** Returns the place in the lock file that Node finds for `name` in a module of `place`. */
function resolve(place, name) {
  const parts = place.split('/');
  const candidates = parts.map((_, index) => [...parts.slice(0, parts.length - index), 'node_modules', name].join('/'));
  return [...candidates, `node_modules/${name}`].find((one) => one in packages);
}

/** Returns the places of the packages that a package needs when it runs. */
const needsOf = (place) => {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = packages[place];
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta[name]?.optional);
  const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
  return names.map((name) => resolve(place, name)).filter((one) => one !== undefined);
};

/** Returns the places of the third-party packages that `names`, imported by a workspace, need. */
export function placesOf(workspace, names, without = []) {
  const found = new Set(without.map((name) => resolve(`packages/${workspace}`, name)));
  const visit = (place) => {
    if (found.has(place)) return;
    found.add(place);
    for (const one of needsOf(packages[place].resolved ?? place)) visit(one);
  };
  for (const name of names) visit(resolve(`packages/${workspace}`, name));
  return unique([...found].filter((place) => !packages[place].link));
}

/** Returns the places in order, each package in each version once. */
export const unique = (places) => [...new Map(places.sort().map((place) => [refOf(place), place])).values()];

/** Returns the places without those of optional packages. */
export const contained = (places) => places.filter((place) => !packages[place].optional);

/** Returns an npm-shrinkwrap.json, with which npm installs exactly the versions and hashes of the lock file. */
export function pinned(manifest, places) {
  const entries = places.map((place) => {
    const { funding: _, ...entry } = packages[place];
    return [place, entry];
  });
  const { name, version } = manifest;
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, ...Object.fromEntries(entries) },
  };
}

const nameOf = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const refOf = (place) => purlOf(nameOf(place), packages[place].version);

/** Returns a licence as CycloneDX has it: an SPDX id, an expression, or else a name. */
const licenceOf = (licence = 'unknown') => {
  if (/ (OR|AND) /.test(licence)) return [{ expression: licence }];
  return [
    { license: /^[\w.+-]+$/.test(licence) && licence !== 'unknown' ? { id: licence } : { name: String(licence) } },
  ];
};

/** Returns the CycloneDX SBOM of an artefact. Equal inputs make equal texts: the serial number is a hash. */
export function sbomOf({ name, version, license, description }, places, date) {
  const purl = name === 'perennial' ? `pkg:deb/${name}@${version}?arch=all` : purlOf(name, version);
  const components = places.map((place) => {
    const { version: own, license: ownLicence, integrity, optional } = packages[place];
    return {
      type: 'library',
      'bom-ref': refOf(place),
      name: nameOf(place),
      version: own,
      scope: optional ? 'optional' : 'required',
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
      licenses: licenceOf(ownLicence),
      purl: refOf(place),
    };
  });
  const refs = new Set(components.map((one) => one['bom-ref']));
  const dependencies = places.map((place) => ({
    ref: refOf(place),
    dependsOn: [...new Set(needsOf(place).map(refOf))].filter((one) => refs.has(one)).sort(),
  }));
  const metadata = {
    timestamp: date.toISOString(),
    component: { type: 'application', 'bom-ref': purl, name, version, description, licenses: licenceOf(license), purl },
  };
  const content = { metadata, components, dependencies: [{ ref: purl, dependsOn: [...refs].sort() }, ...dependencies] };
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const serialNumber = `urn:uuid:${hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5')}`;
  return { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber, version: 1, ...content };
}

/** Returns the licences of packages as one text. Optional packages have no text here, because few are installed. */
export function licencesOf(places) {
  const texts = places.map((place) => {
    const { version, license, optional } = packages[place];
    return `${nameOf(place)} ${version}: ${license ?? 'see its package'}\n${optional ? '' : `\n${licenceText(place)}\n`}`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceText(place) {
  const folder = path.join(root, place);
  const file = existsSync(folder) && readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file ? readFileSync(path.join(folder, file), 'utf8').trim() : 'The package has no licence file.';
}
