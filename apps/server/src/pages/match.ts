/** Does a path fit a pattern of the router (`/order/:id`, `/proxies/:id?`)? Letters count alike, as they do there. */
export function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.toLowerCase().split('/')
  const given = path.toLowerCase().split('/')
  if (given.length > wanted.length) return false
  return wanted.every((part, at) => {
    const here = given[at]
    if (here === undefined) return part.endsWith('?')
    return part.startsWith(':') ? here !== '' : part === here
  })
}
