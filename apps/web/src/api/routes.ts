/** The contract's calls by domain, each module apart so that a page brings only the domains it talks to. */
export { default as accounts } from 'virtual:routes/accounts'
export { default as catalog } from 'virtual:routes/catalog'
export { default as fleet } from 'virtual:routes/fleet'
export { default as inventory } from 'virtual:routes/inventory'
export { default as orders } from 'virtual:routes/orders'
export { default as rewards } from 'virtual:routes/rewards'
export { default as settings } from 'virtual:routes/settings'
export { default as support } from 'virtual:routes/support'
