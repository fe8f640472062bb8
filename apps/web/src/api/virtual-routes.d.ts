declare module 'virtual:routes/accounts' {
  const calls: (typeof import('@netlet/contract').routes)['accounts']
  export default calls
}
declare module 'virtual:routes/secondFactor' {
  const calls: (typeof import('@netlet/contract').routes)['secondFactor']
  export default calls
}
declare module 'virtual:routes/catalog' {
  const calls: (typeof import('@netlet/contract').routes)['catalog']
  export default calls
}
declare module 'virtual:routes/documentation' {
  const calls: (typeof import('@netlet/contract').routes)['documentation']
  export default calls
}
declare module 'virtual:routes/orders' {
  const calls: (typeof import('@netlet/contract').routes)['orders']
  export default calls
}
declare module 'virtual:routes/payments' {
  const calls: (typeof import('@netlet/contract').routes)['payments']
  export default calls
}
declare module 'virtual:routes/inventory' {
  const calls: (typeof import('@netlet/contract').routes)['inventory']
  export default calls
}
declare module 'virtual:routes/fleet' {
  const calls: (typeof import('@netlet/contract').routes)['fleet']
  export default calls
}
declare module 'virtual:routes/home' {
  const calls: (typeof import('@netlet/contract').routes)['home']
  export default calls
}
declare module 'virtual:routes/rewards' {
  const calls: (typeof import('@netlet/contract').routes)['rewards']
  export default calls
}
declare module 'virtual:routes/support' {
  const calls: (typeof import('@netlet/contract').routes)['support']
  export default calls
}
declare module 'virtual:routes/settings' {
  const calls: (typeof import('@netlet/contract').routes)['settings']
  export default calls
}
declare module 'virtual:routes/bulk' {
  const calls: (typeof import('@netlet/contract').routes)['bulk']
  export default calls
}
declare module 'virtual:routes/changes' {
  const calls: (typeof import('@netlet/contract').routes)['changes']
  export default calls
}
declare module 'virtual:routes/notices' {
  const calls: (typeof import('@netlet/contract').routes)['notices']
  export default calls
}
declare module 'virtual:routes/mail' {
  const calls: (typeof import('@netlet/contract').routes)['mail']
  export default calls
}
declare module 'virtual:routes/webhooks' {
  const calls: (typeof import('@netlet/contract').routes)['webhooks']
  export default calls
}
declare module 'virtual:routes/status' {
  const calls: (typeof import('@netlet/contract').routes)['status']
  export default calls
}
