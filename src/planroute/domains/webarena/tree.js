(limits) => {
  const roles = {A: 'link', BUTTON: 'button', SELECT: 'combobox', TEXTAREA: 'textbox', IMG: 'img', TABLE: 'table',
    TR: 'row', TD: 'cell', TH: 'columnheader', UL: 'list', OL: 'list', LI: 'listitem', NAV: 'navigation', MAIN: 'main',
    FORM: 'form', IFRAME: 'iframe', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading',
    H6: 'heading', SUMMARY: 'button', ARTICLE: 'article', DIALOG: 'dialog'};
  const kinds = {checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button', reset: 'button',
    image: 'button', range: 'slider', search: 'searchbox'};
  const acted = new Set(['link', 'button', 'combobox', 'textbox', 'searchbox', 'checkbox', 'radio', 'slider', 'tab',
    'menuitem', 'option', 'switch']);
  const skipped = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'OPTION', 'LABEL_FOR', 'SVG', 'svg']);
  const cut = (text) => String(text || '').replace(/\s+/g, ' ').trim().slice(0, limits.text);
  const elements = [], items = [];
  let visited = 0, more = false;
  const roleOf = (node) => {
    const own = node.getAttribute('role');
    if (own) return cut(own).slice(0, 30);
    if (node.tagName === 'INPUT') return node.type === 'hidden' ? '' : kinds[node.type] || 'textbox';
    if (node.isContentEditable && node.getAttribute('contenteditable') !== null) return 'textbox';
    if (node.tagName === 'A' && !node.hasAttribute('href')) return '';
    return roles[node.tagName] || (node.hasAttribute('onclick') ? 'button' : '');
  };
  const nameOf = (node, role) => {
    const label = node.getAttribute('aria-label');
    if (label) return cut(label);
    if (node.labels && node.labels.length)
      return cut(Array.from(node.labels[0].childNodes).slice(0, 20).filter((each) => !each.contains(node))
        .map((each) => each.textContent).join(' '));
    if (role === 'button' && node.tagName === 'INPUT') return cut(node.value || node.type);
    if (['textbox', 'searchbox', 'combobox'].includes(role))
      return cut(node.placeholder || node.title || node.name);
    if (role === 'img') return cut(node.alt);
    if (['link', 'button', 'heading', 'tab', 'menuitem', 'option', 'switch', 'checkbox', 'radio'].includes(role))
      return cut((node.textContent || '').slice(0, 4 * limits.text)) || cut(node.title || node.value);
    return '';
  };
  const seen = (node) => !node.checkVisibility || node.checkVisibility({checkVisibilityCSS: true});
  const stack = [[document.body, 0]];
  while (stack.length) {
    const [node, depth] = stack.pop();
    if (!node) continue;
    if (++visited > limits.nodes || items.length >= limits.items) { more = true; break; }
    if (node.nodeType === 3) {
      const text = cut(node.nodeValue.slice(0, 8 * limits.text));
      if (text) items.push({depth, role: 'text', name: text});
      continue;
    }
    if (node.nodeType !== 1 || skipped.has(node.tagName) || !seen(node)) continue;
    const role = roleOf(node);
    let inside = depth, closed = false;
    if (role) {
      const item = {depth, role, name: nameOf(node, role)};
      if (acted.has(role)) { item.id = elements.length + 1; elements.push(node); }
      if (['textbox', 'searchbox', 'slider'].includes(role))
        item.value = node.type === 'password' ? '' : cut(node.value);
      if (role === 'combobox' && node.options) {
        item.options = Array.from(node.options).slice(0, limits.options).map((each) => cut(each.text));
        item.value = node.selectedIndex >= 0 ? cut(node.options[node.selectedIndex].text) : '';
      }
      if (role === 'checkbox' || role === 'radio') item.checked = !!node.checked;
      if (node.disabled) item.disabled = true;
      items.push(item);
      inside = Math.min(depth + 1, limits.depth);
      closed = ['heading', 'textbox', 'combobox', 'button', 'link', 'iframe', 'searchbox'].includes(role);
      if (closed && role !== 'link') continue;
      if (role === 'link' && !node.querySelector('input,button,select,textarea,img')) continue;
    }
    if (node.tagName === 'LABEL' && node.control) {
      if (node.contains(node.control)) stack.push([node.control, inside]);
      continue;
    }
    const children = (node.shadowRoot || node).childNodes;
    for (let at = Math.min(children.length, limits.nodes) - 1; at >= 0; at--) stack.push([children[at], inside]);
  }
  return {elements, items, more, below: Math.max(0, Math.round(
    document.documentElement.scrollHeight - window.innerHeight - window.scrollY))};
}
