import { readdir, readFile } from 'node:fs/promises'

/** A process and its children, from /proc. */
export async function family(pid: number): Promise<number[]> {
  const found = [pid]
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid) found.push(Number(name))
  }
  return found
}
